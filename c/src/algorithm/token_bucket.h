// token_bucket: tokens refill lazily, nothing runs between requests.

#ifndef WEIR_SRC_TOKEN_BUCKET_H
#define WEIR_SRC_TOKEN_BUCKET_H

#include "bucket.h"

static inline weir_effect weir_token_bucket(weir_state *state, const weir_limit *limit,
                                            int64_t now_us, weir_verb verb, int64_t cost,
                                            weir_decision *out)
{
    return bucket_step(state, limit, now_us, verb, cost, false, out);
}

#endif
