// leaky_bucket: requests leave period / rate apart, and `queue` may wait beyond the one in service.
//
// Admission is a token bucket's with burst = queue + 1; what was owed before the take is the wait
// for its turn.

#include "bucket.h"

weir_effect weir_leaky_bucket(weir_state *state, const weir_limit *limit, int64_t now_us,
                              weir_verb verb, int64_t cost, weir_decision *out)
{
    weir_decision before;
    weir_state as_it_was = *state;
    bucket_step(&as_it_was, limit, now_us, WEIR_VERB_PEEK, 0, &before);
    weir_effect effect = bucket_step(state, limit, now_us, verb, cost, out);
    if (out->allowed && (verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK)) {
        out->delay_us = before.reset_after_us;
    }
    return effect;
}
