// The words of a call, as the headers of the scripts give them.

#include "store/redis/call.h"

#include "store/redis/row.h"
#include "weir/key.h"

#define PARAMETERS_MAX 4

static size_t parameters_of(const weir_limit *limit, int64_t out[PARAMETERS_MAX])
{
    out[0] = limit->most;
    out[1] = limit->window_us;
    switch (limit->algorithm) {
    case WEIR_TOKEN_BUCKET:
    case WEIR_LEAKY_BUCKET: // as reduced fractions, which are the same rate
        out[0] = limit->rate;
        out[1] = limit->period;
        out[2] = limit->algorithm == WEIR_LEAKY_BUCKET ? limit->most - 1 : limit->most;
        return 3;
    case WEIR_FIXED_WINDOW:
        out[2] = limit->offset_us;
        return 3;
    case WEIR_SLIDING_LOG:
        out[2] = limit->count_denied;
        return 3;
    case WEIR_SLIDING_COUNTER:
        out[2] = limit->slots;
        out[3] = limit->strict;
        return 4;
    case WEIR_MIN_GAP:
        out[0] = limit->window_us;
        out[1] = limit->count_denied;
        return 2;
    case WEIR_CONCURRENCY:
        return 2;
    }
    return 0;
}

static const char *op_of(weir_verb verb, weir_algorithm algorithm)
{
    switch (verb) {
    case WEIR_VERB_PEEK:
        return "peek";
    case WEIR_VERB_REFUND:
        return "refund";
    case WEIR_VERB_CHARGE:
        return "charge";
    case WEIR_VERB_RENEW:
        return "renew";
    case WEIR_VERB_RELEASE:
        return "release";
    default:
        return algorithm == WEIR_CONCURRENCY ? "acquire" : "take";
    }
}

static void write_cost(const weir_check *check, weir_buffer *out)
{
    if (check->limit->algorithm == WEIR_CONCURRENCY) {
        char id[WEIR_ID_ROOM];
        weir_command_word(out, id, weir_check_id(check, id));
    } else {
        weir_command_number(out, check->cost);
    }
}

static void write_numbers(const int64_t *numbers, size_t count, weir_buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        weir_command_number(out, numbers[i]);
    }
}

static void write_key(const weir_check *check, weir_buffer *out)
{
    char key[WEIR_KEY_ROOM];
    weir_command_word(out, key, weir_check_key(check, key));
}

static void write_script(const weir_call *call, bool with_body, size_t arguments, weir_buffer *out)
{
    weir_command_begin(out, 3 + call->count + arguments);
    if (with_body) {
        weir_command_text(out, "EVAL");
        weir_command_word(out, call->script->body, call->script->size);
    } else {
        weir_command_text(out, "EVALSHA");
        weir_command_word(out, call->script->sha1, 40);
    }
    weir_command_number(out, (int64_t)call->count);
    for (size_t i = 0; i < call->count; i++) {
        write_key(&call->checks[i], out);
    }
}

// parameters[, cost = 1[, op = take[, now = the server's clock]]]: what is left out costs nothing.
static void write_one(const weir_call *call, bool with_body, weir_buffer *out)
{
    const weir_check *check = call->checks;
    const weir_algorithm algorithm = check->limit->algorithm;
    int64_t parameters[PARAMETERS_MAX];
    const size_t count = parameters_of(check->limit, parameters);
    const bool has_now = call->now_us != 0;
    const bool has_op = has_now || call->verb != WEIR_VERB_TAKE;
    const bool has_cost = has_op || algorithm == WEIR_CONCURRENCY || check->cost != 1;
    write_script(call, with_body, count + has_cost + has_op + has_now, out);
    write_numbers(parameters, count, out);
    if (has_cost) {
        write_cost(check, out);
    }
    if (has_op) {
        weir_command_text(out, op_of(call->verb, algorithm));
    }
    if (has_now) {
        weir_command_number(out, call->now_us);
    }
}

// now or "", op, then for each check algorithm, number of parameters, parameters, cost or id.
static void write_all(const weir_call *call, bool with_body, weir_buffer *out)
{
    int64_t parameters[PARAMETERS_MAX];
    size_t arguments = 2;
    for (size_t i = 0; i < call->count; i++) {
        arguments += 3 + parameters_of(call->checks[i].limit, parameters);
    }
    write_script(call, with_body, arguments, out);
    if (call->now_us != 0) {
        weir_command_number(out, call->now_us);
    } else {
        weir_command_text(out, "");
    }
    weir_command_text(out, "take");
    for (size_t i = 0; i < call->count; i++) {
        const weir_check *check = &call->checks[i];
        const size_t count = parameters_of(check->limit, parameters);
        weir_command_text(out, weir_algorithm_name(check->limit->algorithm));
        weir_command_number(out, (int64_t)count);
        write_numbers(parameters, count, out);
        write_cost(check, out);
    }
}

void weir_call_write(const weir_call *call, bool with_body, weir_buffer *out)
{
    switch (call->kind) {
    case WEIR_CALL_ONE:
        write_one(call, with_body, out);
        return;
    case WEIR_CALL_ALL:
        write_all(call, with_body, out);
        return;
    case WEIR_CALL_RESET:
        weir_command_begin(out, 2);
        weir_command_text(out, "DEL");
        write_key(call->checks, out);
        return;
    }
}

bool weir_call_read(weir_call *call, const weir_reply *reply)
{
    switch (call->kind) {
    case WEIR_CALL_ONE:
        return weir_row_read(reply, call->verb, call->checks, call->out);
    case WEIR_CALL_ALL:
        return weir_rows_read(reply, call->checks, call->count, call->out, call->rows);
    case WEIR_CALL_RESET:
        return reply->kind == WEIR_REPLY_NUMBER &&
               (reply->numbers[0] == 0 || reply->numbers[0] == 1);
    }
    return false;
}
