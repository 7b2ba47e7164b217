// leaky_bucket: requests leave period / rate apart, and `queue` may wait beyond the one in service.
//
// Admission is a token bucket's with burst = queue + 1; what was owed before the take is the wait
// for its turn.

#ifndef WEIR_SRC_LEAKY_BUCKET_H
#define WEIR_SRC_LEAKY_BUCKET_H

#include "bucket.h"

static inline weir_effect weir_leaky_bucket(weir_state *state, const weir_limit *limit,
                                            int64_t now_us, weir_verb verb, int64_t cost,
                                            weir_decision *out)
{
    return bucket_step(state, limit, now_us, verb, cost, true, out);
}

#endif
