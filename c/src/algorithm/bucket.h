// The arithmetic of both buckets.
//
// The state is one instant: when the bucket is full again. What is owed until then is counted in
// ticks of 1 / rate us, of which one unit of cost is `period`, so 7 per minute is 7 per minute for
// ever. This is the generic cell rate algorithm (ITU-T I.371) with the theoretical arrival time
// kept exactly.

#ifndef WEIR_SRC_BUCKET_H
#define WEIR_SRC_BUCKET_H

#include "algorithm.h"

typedef unsigned __int128 ticks;

// Most products fit in one word, and a division of two words by one is several times slower.
static inline ticks divide(ticks a, int64_t b)
{
    if ((uint64_t)(a >> 64) == 0) {
        return (uint64_t)a / (uint64_t)b;
    }
    return a / (uint64_t)b;
}

static inline int64_t ticks_to_us_up(ticks t, const weir_limit *limit)
{
    if (limit->rate == 1) {
        return (int64_t)t;
    }
    return (int64_t)divide(t + (uint64_t)limit->rate - 1, limit->rate);
}

// What is owed at now: the time until the bucket is full. A fraction under another rate is rounded
// up.
static inline ticks owed_at(const weir_state *state, const weir_limit *limit, int64_t now_us)
{
    int64_t at = state->instant_us;
    int64_t fraction = state->first;
    if (fraction != 0 && state->second != limit->rate) {
        at++;
        fraction = 0;
    }
    if (at < now_us) {
        return 0;
    }
    return (ticks)(uint64_t)(at - now_us) * (uint64_t)limit->rate + (uint64_t)fraction;
}

static inline void record(weir_state *state, const weir_limit *limit, int64_t now_us, ticks owed)
{
    if (limit->rate == 1) {
        *state = (weir_state){.instant_us = now_us + (int64_t)owed, .second = 1};
        return;
    }
    ticks whole = divide(owed, limit->rate);
    state->instant_us = now_us + (int64_t)whole;
    state->first = (int64_t)(owed - whole * (uint64_t)limit->rate);
    state->second = limit->rate;
}

static inline weir_effect bucket_step(weir_state *state, const weir_limit *limit, int64_t now_us,
                                      weir_verb verb, int64_t cost, weir_decision *out)
{
    const ticks span = (ticks)(uint64_t)limit->most * (uint64_t)limit->period;
    const ticks price = (ticks)(uint64_t)cost * (uint64_t)limit->period;
    ticks owed = owed_at(state, limit, now_us);
    weir_effect effect = WEIR_UNCHANGED;
    if (owed > 2 * span) { // the clock has stepped
        owed = span;
        effect = WEIR_CHANGED;
    }
    const bool asks = verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK || verb == WEIR_VERB_DENY;
    const bool passes = !asks || cost == 0 || owed + price <= span;

    if (verb == WEIR_VERB_TAKE && passes && cost > 0) {
        owed += price;
        effect = WEIR_CHANGED;
    } else if (verb == WEIR_VERB_CHARGE || verb == WEIR_VERB_REFUND) {
        if (cost == 0 || (verb == WEIR_VERB_REFUND && owed == 0)) {
            effect = WEIR_UNCHANGED;
        } else if (verb == WEIR_VERB_REFUND) {
            owed -= price < owed ? price : owed;
            effect = WEIR_CHANGED;
        } else {
            owed = owed + price < 2 * span ? owed + price : 2 * span;
            effect = WEIR_CHANGED;
        }
    }
    if (effect == WEIR_CHANGED && verb != WEIR_VERB_PEEK) {
        record(state, limit, now_us, owed);
    }

    out->allowed = passes;
    out->limit = limit->most;
    out->remaining = owed < span ? (int64_t)divide(span - owed, limit->period) : 0;
    out->retry_after_us = passes               ? 0
                          : cost > limit->most ? WEIR_NEVER
                                               : ticks_to_us_up(owed + price - span, limit);
    out->reset_after_us = ticks_to_us_up(owed, limit);
    out->delay_us = 0;
    return effect;
}

#endif
