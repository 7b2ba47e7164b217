// A store keeps what was recorded for each limit and key, and decides and records in one atomic
// step.

#ifndef WEIR_STORE_H
#define WEIR_STORE_H

#include "weir/check.h"
#include "weir/decision.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_store weir_store;

// A clock of the caller's, for tests and replays. Called from every thread that uses the store.
typedef struct weir_clock {
    int64_t (*now_us)(void *context);
    void *context;
} weir_clock;

// The most checks in one call of take_all.
#define WEIR_CHECKS_MAX 32

// In every verb now_us 0 reads the store's clock once (Unix time), and 1 to 2^52 is the caller's
// own. Clocks that feed one key must agree within one span, or each re-anchors what the other
// recorded. All verbs return WEIR_INVALID for a key that is empty, a cost or now out of range, or a
// verb that the limit's algorithm does not have; WEIR_FULL when the state has no room; a store that
// is reached over a network has errors of its own.

// Decides one check and records it if it passes. For a concurrency limit this is acquire.
WEIR_API weir_status weir_store_take(weir_store *store, const weir_check *check, int64_t now_us,
                                     weir_decision *out, weir_error *error);

// Decides all checks together: records all when every one passes, else none (but a count_denied
// limit records the refused attempt). `out` is the joint decision: the largest retry_after, the
// smallest remaining, and in `binding` the check that binds: refused, the longest wait; allowed,
// the least remaining; ties, the first. `rows`, NULL or one a check, are each limit's own. The same
// limit and key twice is WEIR_INVALID, as are 0 or more than WEIR_CHECKS_MAX checks.
WEIR_API weir_status weir_store_take_all(weir_store *store, const weir_check *checks, size_t count,
                                         int64_t now_us, weir_decision *out, weir_decision *rows,
                                         weir_error *error);

// Decides each check by itself, at one now. A check that fails has its status in its row and leaves
// the others alone; the first such status is returned.
WEIR_API weir_status weir_store_take_many(weir_store *store, const weir_check *checks, size_t count,
                                          int64_t now_us, weir_decision *rows, weir_error *error);

// What take would answer now, `allowed` and `delay`, with what is recorded, untouched, in the other
// fields. For a concurrency limit without an id: whether a new one would pass.
WEIR_API weir_status weir_store_peek(weir_store *store, const weir_check *check, int64_t now_us,
                                     weir_decision *out, weir_error *error);

// Gives a cost back that was just taken. It never adds to what a key owes. Not for concurrency:
// release.
WEIR_API weir_status weir_store_refund(weir_store *store, const weir_check *check, int64_t now_us,
                                       weir_decision *out, weir_error *error);

// Records a cost that has been spent already; never refused, so a count may pass the limit. Not for
// concurrency.
WEIR_API weir_status weir_store_charge(weir_store *store, const weir_check *check, int64_t now_us,
                                       weir_decision *out, weir_error *error);

// Forgets the key of the check's limit. Forgetting what is not there is fine.
WEIR_API weir_status weir_store_reset(weir_store *store, const weir_check *check,
                                      weir_error *error);

// Concurrency. Acquire takes a place for the id, or renews the one that it holds. Renew and release
// answer in `allowed` whether the id was held: one that has lapsed stays lost.
WEIR_API weir_status weir_store_acquire(weir_store *store, const weir_check *check, int64_t now_us,
                                        weir_decision *out, weir_error *error);
WEIR_API weir_status weir_store_renew(weir_store *store, const weir_check *check, int64_t now_us,
                                      weir_decision *out, weir_error *error);
WEIR_API weir_status weir_store_release(weir_store *store, const weir_check *check, int64_t now_us,
                                        weir_decision *out, weir_error *error);

// The clock that a verb reads when now_us is 0, in Unix time. A store whose clock is elsewhere
// answers with this host's.
WEIR_API int64_t weir_store_now_us(weir_store *store);

// Closes any store. No thread may be in a call.
WEIR_API void weir_store_close(weir_store *store);

#ifdef __cplusplus
}
#endif

#endif
