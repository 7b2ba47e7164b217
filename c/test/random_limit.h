// Random limits of every algorithm, small enough that they refuse and odd enough that nothing
// divides evenly.

#ifndef WEIR_TEST_RANDOM_LIMIT_H
#define WEIR_TEST_RANDOM_LIMIT_H

#include "support.h"

static inline int64_t random_span(uint64_t *random)
{
    static const int64_t spans[] = {1,        7,           1000,      99991,        WEIR_SECOND,
                                    61234567, WEIR_MINUTE, WEIR_HOUR, WEIR_DAY + 1, 365 * WEIR_DAY};
    return spans[test_random(random) % (sizeof spans / sizeof spans[0])];
}

// Options of the algorithm; the name is the caller's to change.
static inline weir_limit_options random_options(weir_algorithm algorithm, uint64_t *random)
{
    weir_limit_options o = {.name = "random", .algorithm = algorithm};
    const int64_t count = test_between(random, 0, 3) == 0 ? test_between(random, 1, 100000)
                                                          : test_between(random, 1, 12);
    switch (algorithm) {
    case WEIR_TOKEN_BUCKET:
        o.rate = count;
        o.period_us = random_span(random);
        o.burst = test_between(random, 0, 2 * count);
        break;
    case WEIR_LEAKY_BUCKET:
        o.rate = count;
        o.period_us = random_span(random);
        o.queue = test_between(random, 0, 2 * count);
        break;
    case WEIR_FIXED_WINDOW:
        o.limit = count;
        o.window_us = random_span(random);
        o.offset_us = test_between(random, 0, o.window_us - 1);
        break;
    case WEIR_SLIDING_LOG:
        o.limit = count;
        o.window_us = random_span(random);
        o.count_denied = test_between(random, 0, 1);
        break;
    case WEIR_SLIDING_COUNTER:
        o.limit = count;
        o.slots = test_between(random, 0, 2) == 0 ? 1 : test_between(random, 1, 12);
        o.window_us = random_span(random) * o.slots;
        if (o.window_us > WEIR_DURATION_MAX) {
            o.window_us = o.slots * WEIR_DAY;
        }
        o.strict = test_between(random, 0, 1);
        break;
    case WEIR_MIN_GAP:
        o.gap_us = random_span(random);
        o.count_denied = test_between(random, 0, 1);
        break;
    case WEIR_CONCURRENCY:
        o.limit = test_between(random, 1, 5);
        o.ttl_us = random_span(random);
        break;
    }
    return o;
}

// A step of time that lands on, before and behind what the limit cares for.
static inline int64_t random_step(const weir_limit *limit, uint64_t *random)
{
    switch (test_random(random) % 8) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return limit->span_us;
    case 3:
        return test_between(random, 0, 3 * limit->span_us + 3);
    case 4:
        return -test_between(random, 0, limit->span_us);
    default:
        return test_between(random, 0,
                            limit->span_us / (limit->most > 4 ? limit->most / 2 : 2) + 1);
    }
}

#endif
