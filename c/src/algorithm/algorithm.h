// What the algorithms share: pure functions of (state, limit, now, cost). No clock, no I/O, no
// allocation.
//
// A parameter was checked when its limit was made and a cost at the store's edge, so nothing here
// can overflow: costs are at most 2^43, limits 2^40, counts 2^50, instants and durations 2^53.

#ifndef WEIR_SRC_ALGORITHM_H
#define WEIR_SRC_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>

#include "journal.h"
#include "weir/decision.h"
#include "weir/limit.h"

#define WEIR_COUNT_STOP (INT64_C(1) << 50) // where a count stops that charges have raised

// Earlier than any instant that can matter: what a fresh state holds.
#define WEIR_LONG_AGO (-(INT64_C(1) << 60))

typedef enum weir_verb {
    WEIR_VERB_PEEK, // decide, record nothing
    WEIR_VERB_TAKE, // decide and record
    WEIR_VERB_DENY, // another limit of the list refuses: record what a refusal records
    WEIR_VERB_REFUND,
    WEIR_VERB_CHARGE,
    WEIR_VERB_RENEW,   // concurrency
    WEIR_VERB_RELEASE, // concurrency
} weir_verb;

typedef enum weir_effect {
    WEIR_UNCHANGED,
    WEIR_CHANGED,
    WEIR_FORGOTTEN, // the key is as if it had never been there
} weir_effect;

// What a store keeps for one key. The fields mean what the algorithm says:
//
//                     instant_us              first               second               side
//   buckets           when full again         fraction of a us    its denominator
//   fixed_window      start of the window     count
//   sliding_counter   start of newest slot    count before it     count in it
//     with slots      start of newest slot                                            a count a
//     slot
//   sliding_log       the newest entry                                                the entries
//   min_gap           the last event
//   concurrency       the latest lapse                                                the leases
//
// A fresh state is WEIR_LONG_AGO and nought. `side` is memory that the store keeps beside the cell,
// NULL when there is none; before it is written it is noted in the journal, if there is one.
typedef struct weir_state {
    int64_t instant_us;
    int64_t first;
    int64_t second;
    void *side;
    size_t side_bytes;
    weir_journal *journal;
} weir_state;

// The one form of every algorithm; the two buckets are inline, in headers of their own, since they
// are what most takes are. `cost` is the hash of the id for concurrency. When the function may
// record (any verb but PEEK), side_bytes is at least what weir_algorithm_room says. A limit of 0
// never gets here.
typedef weir_effect weir_algorithm_step(weir_state *state, const weir_limit *limit, int64_t now_us,
                                        weir_verb verb, int64_t cost, weir_decision *out);

weir_algorithm_step weir_fixed_window;
weir_algorithm_step weir_sliding_log;
weir_algorithm_step weir_sliding_counter;
weir_algorithm_step weir_min_gap;
weir_algorithm_step weir_concurrency;

// Whether the limit's state needs side memory.
static inline int weir_algorithm_has_side(const weir_limit *limit)
{
    return limit->algorithm == WEIR_SLIDING_LOG || limit->algorithm == WEIR_CONCURRENCY ||
           (limit->algorithm == WEIR_SLIDING_COUNTER && limit->slots > 1);
}

// How many bytes of side memory one more record may need. What is expired at now is dropped first
// if that makes room.
size_t weir_sliding_log_room(weir_state *state, const weir_limit *limit, int64_t now_us);
size_t weir_sliding_counter_room(const weir_limit *limit);
size_t weir_concurrency_room(weir_state *state, const weir_limit *limit, int64_t now_us);

// About how many words of side memory a step may write where it stands: more than a few only when
// much has expired since the last. `succeeds`: the step is one that records. (A log writes a few
// whatever has expired.)
size_t weir_sliding_counter_writes(const weir_state *state, const weir_limit *limit, int64_t now_us,
                                   bool succeeds);
size_t weir_concurrency_writes(const weir_state *state, const weir_limit *limit, int64_t now_us,
                               bool succeeds);

// Whether side memory holds what the algorithm writes, whatever bytes it has.
bool weir_sliding_log_sound(const void *side, size_t side_bytes);
bool weir_sliding_counter_sound(const void *side, size_t side_bytes);
bool weir_concurrency_sound(const void *side, size_t side_bytes);

// Side memory that was just allotted is zeroed, or is a copy of a smaller block: at least half its
// size, old_bytes. Each kind then lays itself out in what it has.
void weir_sliding_log_grown(void *side, size_t old_bytes);
void weir_concurrency_fit(void *side, size_t side_bytes);

// What a counter that changes between one slot and several keeps: the start of the newest and the
// counts by position.
void weir_sliding_counter_to_side(weir_state *state, const weir_limit *limit);
void weir_sliding_counter_from_side(weir_state *state);

static inline int64_t weir_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t weir_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
