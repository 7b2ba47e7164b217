// min_gap: at least so much time between two events.

#include "algorithm.h"

weir_effect weir_min_gap(weir_state *state, const weir_limit *limit, int64_t now_us, weir_verb verb,
                         int64_t cost, weir_decision *out)
{
    const int64_t gap = limit->span_us;
    int64_t last = state->instant_us;
    weir_effect effect = WEIR_UNCHANGED;
    if (last > now_us + gap) { // the clock has stepped
        last = now_us;
        effect = WEIR_CHANGED;
    }
    const bool live = now_us - last < gap;
    bool passes = true;
    switch (verb) {
    case WEIR_VERB_REFUND:
        effect = cost > 0 && last > WEIR_LONG_AGO ? WEIR_FORGOTTEN : WEIR_UNCHANGED;
        last = effect == WEIR_FORGOTTEN ? WEIR_LONG_AGO : last;
        break;
    case WEIR_VERB_CHARGE:
        effect = cost > 0 ? WEIR_CHANGED : WEIR_UNCHANGED;
        last = cost > 0 ? weir_max(last, now_us) : last;
        break;
    default:
        passes = cost == 0 || !live;
        if (cost > 0 && ((verb == WEIR_VERB_TAKE && passes) ||
                         (verb != WEIR_VERB_PEEK && limit->count_denied))) {
            last = weir_max(last, now_us);
            effect = WEIR_CHANGED;
        }
    }
    if (effect != WEIR_UNCHANGED && verb != WEIR_VERB_PEEK) {
        state->instant_us = last;
    }

    const int64_t wait = weir_max(last + gap - now_us, 0);
    // In a joint refusal the attempt that was just recorded makes a wait, though the limit itself
    // would have passed it.
    const bool waits = !passes || (verb == WEIR_VERB_DENY && cost > 0);
    out->allowed = passes;
    out->limit = 1;
    out->remaining = wait == 0 ? 1 : 0;
    out->retry_after_us = waits ? wait : 0;
    out->reset_after_us = wait;
    out->delay_us = 0;
    return effect;
}
