// Checks each number's range and what the numbers say together.

#include "store/redis/row.h"

#define ROW_NUMBERS 6
#define TIME_MAX    (INT64_C(1) << 53)

static bool in_range(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

// allowed, limit, remaining, retry_after, reset_after, delay.
static bool read_row(const int64_t n[ROW_NUMBERS], const weir_limit *limit, weir_decision *out)
{
    const int64_t longest_delay = limit->algorithm == WEIR_LEAKY_BUCKET ? TIME_MAX : 0;
    if (!in_range(n[0], 0, 1) || n[1] != limit->most || !in_range(n[2], 0, limit->most) ||
        !in_range(n[3], WEIR_NEVER, TIME_MAX) || !in_range(n[4], 0, TIME_MAX) ||
        !in_range(n[5], 0, longest_delay)) {
        return false;
    }
    *out = (weir_decision){
        .allowed = n[0] == 1,
        .limit = n[1],
        .remaining = n[2],
        .retry_after_us = n[3],
        .reset_after_us = n[4],
        .delay_us = n[5],
        .source = WEIR_SOURCE_STORE,
    };
    return true;
}

bool weir_row_read(const weir_reply *reply, weir_verb verb, const weir_check *check,
                   weir_decision *out)
{
    if (reply->kind != WEIR_REPLY_LIST || reply->count < ROW_NUMBERS ||
        !read_row(reply->numbers, check->limit, out)) {
        return false;
    }
    switch (verb) {
    case WEIR_VERB_TAKE:
    case WEIR_VERB_PEEK: // a refusal says how long, a pass never does
        return out->allowed == (out->retry_after_us == 0);
    case WEIR_VERB_REFUND:
    case WEIR_VERB_CHARGE:
        return out->allowed && out->retry_after_us == 0;
    default:
        return out->retry_after_us == 0;
    }
}

bool weir_rows_read(const weir_reply *reply, const weir_check *checks, size_t count,
                    weir_decision *out, weir_decision *rows)
{
    if (reply->kind != WEIR_REPLY_LIST || reply->count < 2 + count * ROW_NUMBERS) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_row(reply->numbers + 2 + i * ROW_NUMBERS, checks[i].limit, &rows[i])) {
            return false;
        }
    }
    weir_decision_join(out, rows, count); // the server's own two numbers must say the same
    return reply->numbers[0] == out->allowed && reply->numbers[1] == (int64_t)out->binding;
}
