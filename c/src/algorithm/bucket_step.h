// One step of a bucket, for the width TICKS; BUCKET(name) makes the names.
//
// The state is one instant: when the bucket is full again. What is owed until then is counted in
// ticks of 1 / rate us, of which one unit of cost is `period`, so 7 per minute is 7 per minute for
// ever. This is the generic cell rate algorithm (ITU-T I.371) with the theoretical arrival time
// kept exactly. Nothing exceeds four spans and a little: limit.c has chosen the width for that.

static inline int64_t BUCKET(ticks_to_us_up)(TICKS t, const weir_limit *limit)
{
    if (limit->rate == 1) {
        return (int64_t)t;
    }
    return (int64_t)((t + (uint64_t)limit->rate - 1) / (uint64_t)limit->rate);
}

// What is owed at now: the time until the bucket is full. A fraction under another rate is rounded
// up.
static inline TICKS BUCKET(owed_at)(const weir_state *state, const weir_limit *limit,
                                    int64_t now_us)
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
    // Further ahead than this is more than two spans, and how much more does not matter.
    const int64_t ahead_us = weir_min(at - now_us, 2 * limit->span_us + 2);
    return (TICKS)(uint64_t)ahead_us * (uint64_t)limit->rate + (uint64_t)fraction;
}

static inline void BUCKET(record)(weir_state *state, const weir_limit *limit, int64_t now_us,
                                  TICKS owed)
{
    state->second = limit->rate;
    if (limit->rate == 1) {
        state->instant_us = now_us + (int64_t)owed;
        state->first = 0;
        return;
    }
    state->instant_us = now_us + (int64_t)(owed / (uint64_t)limit->rate);
    state->first = (int64_t)(owed % (uint64_t)limit->rate);
}

static inline weir_effect BUCKET(step)(weir_state *state, const weir_limit *limit, int64_t now_us,
                                       weir_verb verb, int64_t cost, bool delays,
                                       weir_decision *out)
{
    const TICKS span = (TICKS)(uint64_t)limit->most * (uint64_t)limit->period;
    // A cost above the limit never passes, and a charge stops at two spans.
    const TICKS price = (TICKS)(uint64_t)weir_min(cost, 2 * limit->most) * (uint64_t)limit->period;
    TICKS owed = BUCKET(owed_at)(state, limit, now_us);
    weir_effect effect = WEIR_UNCHANGED;
    if (owed > 2 * span) { // the clock has stepped
        owed = span;
        effect = WEIR_CHANGED;
    }
    const TICKS before = owed;
    bool passes = true;
    switch (verb) {
    case WEIR_VERB_REFUND:
        effect = cost > 0 && owed > 0 ? WEIR_CHANGED : WEIR_UNCHANGED;
        owed -= price < owed ? price : owed;
        break;
    case WEIR_VERB_CHARGE:
        effect = cost > 0 ? WEIR_CHANGED : WEIR_UNCHANGED;
        owed = owed + price < 2 * span ? owed + price : 2 * span;
        break;
    default:
        passes = cost == 0 || owed + price <= span;
        if (verb == WEIR_VERB_TAKE && passes && cost > 0) {
            owed += price;
            effect = WEIR_CHANGED;
        }
    }
    if (effect == WEIR_CHANGED && verb != WEIR_VERB_PEEK) {
        BUCKET(record)(state, limit, now_us, owed);
    }

    out->allowed = passes;
    out->limit = limit->most;
    out->remaining = owed < span ? (int64_t)((span - owed) / (uint64_t)limit->period) : 0;
    out->retry_after_us = 0;
    if (!passes) {
        out->retry_after_us =
            cost > limit->most ? WEIR_NEVER : BUCKET(ticks_to_us_up)(owed + price - span, limit);
    }
    out->reset_after_us = BUCKET(ticks_to_us_up)(owed, limit);
    out->delay_us = 0;
    if (delays && passes && (verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK)) {
        out->delay_us = BUCKET(ticks_to_us_up)(before, limit);
    }
    return effect;
}

#undef BUCKET
#undef TICKS
