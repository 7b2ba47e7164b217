// Checks the options of a limit once, and prepares what every decision needs.

#include "weir/limit.h"

#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "siphash.h"
#include "store/memory/cell.h"

static const char *const algorithm_names[] = {
#define WEIR_ALGORITHM_NAME(name, code, text) [code] = text,
    WEIR_ALGORITHM_LIST(WEIR_ALGORITHM_NAME)
#undef WEIR_ALGORITHM_NAME
};
enum { ALGORITHM_END = sizeof algorithm_names / sizeof algorithm_names[0] };

const char *weir_algorithm_name(weir_algorithm algorithm)
{
    return (unsigned)algorithm < ALGORITHM_END ? algorithm_names[algorithm] : NULL;
}

weir_status weir_algorithm_parse(const char *name, weir_algorithm *out, weir_error *error)
{
    for (int i = 1; i < ALGORITHM_END; i++) {
        if (name != NULL && strcmp(name, algorithm_names[i]) == 0) {
            *out = (weir_algorithm)i;
            return WEIR_OK;
        }
    }
    return weir_fail(error, WEIR_INVALID,
                     "algorithm was \"%.60s\"; it must be token_bucket, leaky_bucket, "
                     "fixed_window, sliding_log, sliding_counter, min_gap or concurrency",
                     name == NULL ? "" : name);
}

// A parameter that an algorithm takes: its name, its place in the options and its range.
typedef struct parameter {
    const char *name;
    int64_t value;
    int64_t least;
    int64_t most;
    unsigned used_by; // a bit for each algorithm
} parameter;

#define USED_BY(algorithm) (1u << (algorithm))

static weir_status check_name(const char *name, weir_error *error)
{
    if (name == NULL || name[0] == '\0') {
        return weir_fail(error, WEIR_INVALID,
                         "name was empty; it must be 1 to 64 printable ASCII characters");
    }
    size_t size = strnlen(name, WEIR_NAME_MAX + 1);
    if (size > WEIR_NAME_MAX) {
        return weir_fail(error, WEIR_INVALID,
                         "name was \"%.20s...\", longer than 64 characters; it must be 1 to 64 "
                         "printable ASCII characters",
                         name);
    }
    for (size_t i = 0; i < size; i++) {
        if (name[i] < ' ' || name[i] > '~') {
            return weir_fail(error, WEIR_INVALID,
                             "name was \"%s\", with byte 0x%02x at %zu; it must be 1 to 64 "
                             "printable ASCII characters",
                             name, (unsigned char)name[i], i + 1);
        }
    }
    return WEIR_OK;
}

static weir_status check_parameter(const parameter *p, weir_algorithm algorithm, weir_error *error)
{
    if (!(p->used_by & USED_BY(algorithm))) {
        if (p->value == 0) {
            return WEIR_OK;
        }
        return weir_fail(error, WEIR_INVALID,
                         "%s was %" PRId64 "; %s has none, so it must be left out", p->name,
                         p->value, weir_algorithm_name(algorithm));
    }
    if (p->value < p->least || p->value > p->most) {
        return weir_fail(error, WEIR_INVALID,
                         "%s was %" PRId64 "; it must be from %" PRId64 " to %" PRId64, p->name,
                         p->value, p->least, p->most);
    }
    return WEIR_OK;
}

static weir_status check_flag(const char *name, bool value, unsigned used_by,
                              weir_algorithm algorithm, weir_error *error)
{
    if (!value || (used_by & USED_BY(algorithm))) {
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_INVALID, "%s was true; %s has none, so it must be left out", name,
                     weir_algorithm_name(algorithm));
}

static weir_status check_parameters(const weir_limit_options *o, weir_error *error)
{
    enum {
        BUCKETS = USED_BY(WEIR_TOKEN_BUCKET) | USED_BY(WEIR_LEAKY_BUCKET),
        WINDOWS =
            USED_BY(WEIR_FIXED_WINDOW) | USED_BY(WEIR_SLIDING_LOG) | USED_BY(WEIR_SLIDING_COUNTER),
    };
    const parameter parameters[] = {
        {"rate", o->rate, 1, WEIR_COUNT_MAX, BUCKETS},
        {"period", o->period_us, 1, WEIR_DURATION_MAX, BUCKETS},
        {"burst", o->burst, WEIR_NONE, WEIR_COST_MAX, USED_BY(WEIR_TOKEN_BUCKET)},
        {"queue", o->queue, 0, WEIR_COUNT_MAX, USED_BY(WEIR_LEAKY_BUCKET)},
        {"limit", o->limit, 0, WEIR_COUNT_MAX, WINDOWS | USED_BY(WEIR_CONCURRENCY)},
        {"window", o->window_us, 1, WEIR_DURATION_MAX, WINDOWS},
        {"offset", o->offset_us, 0, WEIR_DURATION_MAX, USED_BY(WEIR_FIXED_WINDOW)},
        {"slots", o->slots, 0, WEIR_SLOTS_MAX, USED_BY(WEIR_SLIDING_COUNTER)},
        {"gap", o->gap_us, 1, WEIR_DURATION_MAX, USED_BY(WEIR_MIN_GAP)},
        {"ttl", o->ttl_us, 1, WEIR_DURATION_MAX, USED_BY(WEIR_CONCURRENCY)},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        weir_status status = check_parameter(&parameters[i], o->algorithm, error);
        if (status != WEIR_OK) {
            return status;
        }
    }
    weir_status status =
        check_flag("strict", o->strict, USED_BY(WEIR_SLIDING_COUNTER), o->algorithm, error);
    if (status != WEIR_OK) {
        return status;
    }
    return check_flag("count_denied", o->count_denied,
                      USED_BY(WEIR_SLIDING_LOG) | USED_BY(WEIR_MIN_GAP), o->algorithm, error);
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static weir_status prepare_bucket(weir_limit *limit, const weir_limit_options *o, weir_error *error)
{
    int64_t divisor = greatest_common_divisor(o->rate, o->period_us);
    limit->rate = o->rate / divisor;
    limit->period = o->period_us / divisor;
    if (o->algorithm == WEIR_LEAKY_BUCKET) {
        limit->most = o->queue + 1;
    } else {
        limit->most = o->burst == 0 ? o->rate : o->burst == WEIR_NONE ? 0 : o->burst;
    }
    unsigned __int128 fill = (unsigned __int128)limit->most * (uint64_t)limit->period;
    unsigned __int128 fill_us = (fill + (uint64_t)limit->rate - 1) / (uint64_t)limit->rate;
    if (fill_us > WEIR_FILL_MAX) {
        return weir_fail(error, WEIR_INVALID,
                         "%s was %" PRId64 "; at %" PRId64 " per %" PRId64
                         " us that takes over 2^50 us (35 years) to fill, the most there is",
                         o->algorithm == WEIR_LEAKY_BUCKET ? "queue" : "burst",
                         o->algorithm == WEIR_LEAKY_BUCKET ? o->queue : limit->most, o->rate,
                         o->period_us);
    }
    limit->span_us = (int64_t)fill_us;
    limit->wide = fill + (unsigned __int128)limit->rate * 4 > UINT64_MAX / 8;
    limit->window_us = o->period_us;
    return WEIR_OK;
}

static weir_status prepare_window(weir_limit *limit, const weir_limit_options *o, weir_error *error)
{
    if (o->offset_us >= o->window_us) {
        return weir_fail(error, WEIR_INVALID,
                         "offset was %" PRId64 "; it must be less than the window, %" PRId64,
                         o->offset_us, o->window_us);
    }
    int64_t slots = o->slots == 0 ? 1 : o->slots;
    if (o->window_us % slots != 0) {
        return weir_fail(error, WEIR_INVALID,
                         "slots was %" PRId64 "; it must divide the window, %" PRId64 " us", slots,
                         o->window_us);
    }
    limit->most = o->limit;
    limit->span_us = limit->window_us = o->window_us;
    limit->offset_us = o->offset_us;
    if (o->algorithm == WEIR_SLIDING_COUNTER) {
        limit->slots = slots;
        limit->slot_us = o->window_us / slots;
    }
    return WEIR_OK;
}

static weir_status prepare(weir_limit *limit, const weir_limit_options *o, weir_error *error)
{
    switch (o->algorithm) {
    case WEIR_TOKEN_BUCKET:
    case WEIR_LEAKY_BUCKET:
        return prepare_bucket(limit, o, error);
    case WEIR_FIXED_WINDOW:
    case WEIR_SLIDING_LOG:
    case WEIR_SLIDING_COUNTER:
        return prepare_window(limit, o, error);
    case WEIR_MIN_GAP:
        limit->most = 1;
        limit->span_us = limit->window_us = o->gap_us;
        return WEIR_OK;
    case WEIR_CONCURRENCY:
        limit->most = o->limit;
        limit->span_us = limit->window_us = o->ttl_us;
        return WEIR_OK;
    }
    return WEIR_INVALID;
}

// How long after its instant the state of a cell still matters: a counter's newest slot counts in
// full while it is in the window, and once more as the oldest; of concurrency the instant is the
// lapse itself.
static int64_t matters_us(const weir_limit *limit)
{
    if (limit->algorithm == WEIR_CONCURRENCY) {
        return 0;
    }
    return limit->algorithm == WEIR_SLIDING_COUNTER ? limit->span_us + limit->slot_us
                                                    : limit->span_us;
}

// The limit's name in every store. Without a secret it only has to be hard to meet by chance: who
// writes the names of two limits is one person. The store's own key comes on top.
static void name_limit(weir_limit *limit)
{
    const uint64_t key[2] = {UINT64_C(0x77656972), (uint64_t)limit->algorithm};
    limit->id = sip_finish(sip_begin(key), limit->name, strlen(limit->name), 0);
}

weir_status weir_limit_init(weir_limit *limit, const weir_limit_options *options, weir_error *error)
{
    if (limit == NULL || options == NULL) {
        return weir_fail(error, WEIR_INVALID, "limit and options must be given, not NULL");
    }
    weir_limit made = {.algorithm = options->algorithm,
                       .strict = options->strict,
                       .count_denied = options->count_denied};
    if (weir_algorithm_name(options->algorithm) == NULL) {
        return weir_fail(error, WEIR_INVALID,
                         "algorithm was %d; it must be one of the weir_algorithm codes, 1 to %d",
                         (int)options->algorithm, ALGORITHM_END - 1);
    }
    weir_status status = check_name(options->name, error);
    if (status != WEIR_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    status = check_parameters(options, error);
    if (status != WEIR_OK) {
        return status;
    }
    status = prepare(&made, options, error);
    if (status != WEIR_OK) {
        return status;
    }
    made.share = made.most == 0 ? 0 : 1.0 / (double)made.most;
    made.span_packed = weir_span_pack(matters_us(&made));
    strcpy(made.name, options->name);
    name_limit(&made);
    *limit = made;
    return WEIR_OK;
}
