// A limit: an algorithm with its parameters and a name.

#ifndef WEIR_LIMIT_H
#define WEIR_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MILLISECOND INT64_C(1000)
#define WEIR_SECOND      INT64_C(1000000)
#define WEIR_MINUTE      (60 * WEIR_SECOND)
#define WEIR_HOUR        (60 * WEIR_MINUTE)
#define WEIR_DAY         (24 * WEIR_HOUR)

// A burst of nought, which refuses everything: a zero would mean the default.
#define WEIR_NONE INT64_C(-1)

// The largest value of each parameter. Inside these every answer is exact.
#define WEIR_COUNT_MAX    (INT64_C(1) << 40) // rate, queue, limit
#define WEIR_COST_MAX     (INT64_C(1) << 43) // cost, burst
#define WEIR_DURATION_MAX (INT64_C(1) << 45) // period, window, offset, gap, ttl: over a year
#define WEIR_FILL_MAX     (INT64_C(1) << 50) // the time in which a bucket fills, in microseconds
#define WEIR_NOW_MAX      (INT64_C(1) << 52) // now
#define WEIR_SLOTS_MAX    600
#define WEIR_NAME_MAX     64

// One list makes the codes and the names that policies, scripts and files use.
#define WEIR_ALGORITHM_LIST(X)                                                                     \
    X(TOKEN_BUCKET, 1, "token_bucket")                                                             \
    X(LEAKY_BUCKET, 2, "leaky_bucket")                                                             \
    X(FIXED_WINDOW, 3, "fixed_window")                                                             \
    X(SLIDING_LOG, 4, "sliding_log")                                                               \
    X(SLIDING_COUNTER, 5, "sliding_counter")                                                       \
    X(MIN_GAP, 6, "min_gap")                                                                       \
    X(CONCURRENCY, 7, "concurrency")

typedef enum weir_algorithm {
#define WEIR_ALGORITHM_CODE(name, code, text) WEIR_##name = code,
    WEIR_ALGORITHM_LIST(WEIR_ALGORITHM_CODE)
#undef WEIR_ALGORITHM_CODE
} weir_algorithm;

// A field that its algorithm does not use must be zero: a window given to a token bucket is a
// mistake, and is refused.
typedef struct weir_limit_options {
    const char *name; // 1 to 64 printable ASCII characters. With the algorithm it names the limit
                      // in a store.
    weir_algorithm algorithm;

    int64_t rate;      // token_bucket, leaky_bucket: how many a period
    int64_t period_us; // token_bucket, leaky_bucket
    int64_t burst;     // token_bucket: the most at one instant. 0: rate
    int64_t queue;     // leaky_bucket: how many may wait beyond the one in service

    int64_t limit; // fixed_window, sliding_log, sliding_counter, concurrency. 0 refuses everything
    int64_t window_us; // fixed_window, sliding_log, sliding_counter
    int64_t
        offset_us; // fixed_window: windows start at k x window - offset, so 9 h is a day in UTC+9
    int64_t slots; // sliding_counter: in how many the window is cut, 1 to 600. 0: 1. The window
                   // must divide by it
    bool strict; // sliding_counter: count the oldest slot whole, so that no window holds more than
                 // limit

    int64_t gap_us;    // min_gap
    bool count_denied; // sliding_log, min_gap: refused requests are recorded too, so who keeps
                       // knocking stays out

    int64_t ttl_us; // concurrency: how long an id is held unless it is renewed

    uint64_t reserved[4];
} weir_limit_options;

// A prepared limit: plain data that may be copied, shared by threads and kept as long as it is
// used. Read its fields if you like, but only weir_limit_init makes one.
typedef struct weir_limit {
    uint64_t id; // a hash of name and algorithm, which names the limit in a store
    weir_algorithm algorithm;
    bool strict;
    bool count_denied;
    bool wide;    // a bucket whose ticks need more than 64 bits
    int64_t most; // the decision's limit: the most that could ever pass at one instant

    // Buckets, counted in ticks of 1 / rate microseconds: one unit of cost is `period` ticks, with
    // both reduced by their greatest common divisor.
    int64_t rate;
    int64_t period;

    int64_t span_us;   // window, gap, ttl, or the time a bucket takes to fill, rounded up
    int64_t window_us; // window, gap, ttl, or a bucket's period, as given
    int64_t offset_us;
    int64_t slots;
    int64_t slot_us;
    double share;         // of the limit that a cost of 1 uses
    uint32_t span_packed; // how long a state matters, as a cell of a memory store keeps it

    char name[WEIR_NAME_MAX + 1];
    uint64_t reserved[4];
} weir_limit;

// Checks the options once and prepares the limit; no store checks them again. WEIR_INVALID names
// the field, what it was and what would do.
WEIR_API weir_status weir_limit_init(weir_limit *limit, const weir_limit_options *options,
                                     weir_error *error);

// "token_bucket" and the like, or NULL for a code that is none. Static text.
WEIR_API const char *weir_algorithm_name(weir_algorithm algorithm);

// The algorithm of that name. WEIR_INVALID lists those there are.
WEIR_API weir_status weir_algorithm_parse(const char *name, weir_algorithm *out, weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
