// The arithmetic of both buckets, in the width that a limit needs.
//
// Ticks of nearly every limit fit in 64 bits; those of enormous ones need 128, which cost a tenth
// more of a take. It is written once, in bucket_step.h, and compiled for both.

#ifndef WEIR_SRC_BUCKET_H
#define WEIR_SRC_BUCKET_H

#include "algorithm.h"

#define BUCKET(name) name##_narrow
#define TICKS        uint64_t
#include "bucket_step.h"

#define BUCKET(name) name##_wide
#define TICKS        unsigned __int128
#include "bucket_step.h"

// `delays`: an allowed request waits for its turn. The wide form is kept out of line, so that it
// costs the other nothing.
static __attribute__((noinline)) weir_effect bucket_wide(weir_state *state, const weir_limit *limit,
                                                         int64_t now_us, weir_verb verb,
                                                         int64_t cost, bool delays,
                                                         weir_decision *out)
{
    return step_wide(state, limit, now_us, verb, cost, delays, out);
}

static inline weir_effect bucket_step(weir_state *state, const weir_limit *limit, int64_t now_us,
                                      weir_verb verb, int64_t cost, bool delays, weir_decision *out)
{
    return limit->wide ? bucket_wide(state, limit, now_us, verb, cost, delays, out)
                       : step_narrow(state, limit, now_us, verb, cost, delays, out);
}

#endif
