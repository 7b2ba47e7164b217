// fixed_window: a count that starts anew at k x window - offset.

#include "algorithm.h"

// The window that is judged: its start and its count.
typedef struct window {
    int64_t start_us;
    int64_t count;
    bool stepped;
} window;

static window window_at(const weir_state *state, const weir_limit *limit, int64_t now_us)
{
    const int64_t size = limit->span_us;
    const int64_t start = (now_us + limit->offset_us) / size * size - limit->offset_us;
    const int64_t recorded = state->instant_us;
    if (recorded < start) {
        return (window){start, 0, false};
    }
    if (recorded < start + size) {
        return (window){start, state->first, false};
    }
    if (recorded < start + 2 * size) { // a late caller: the next window has begun for others
        return (window){start + size, state->first, false};
    }
    return (window){start, state->first, true};
}

weir_effect weir_fixed_window(weir_state *state, const weir_limit *limit, int64_t now_us,
                              weir_verb verb, int64_t cost, weir_decision *out)
{
    window w = window_at(state, limit, now_us);
    weir_effect effect = w.stepped ? WEIR_CHANGED : WEIR_UNCHANGED;
    bool passes = true;
    switch (verb) {
    case WEIR_VERB_REFUND:
        effect = cost > 0 && w.count > 0 ? WEIR_CHANGED : WEIR_UNCHANGED;
        w.count -= weir_min(cost, w.count);
        break;
    case WEIR_VERB_CHARGE:
        effect = cost > 0 ? WEIR_CHANGED : WEIR_UNCHANGED;
        w.count = weir_min(w.count + cost, WEIR_COUNT_STOP);
        break;
    default:
        passes = cost == 0 || w.count + cost <= limit->most;
        if (verb == WEIR_VERB_TAKE && passes && cost > 0) {
            w.count += cost;
            effect = WEIR_CHANGED;
        }
    }
    if (effect == WEIR_CHANGED && verb != WEIR_VERB_PEEK) {
        state->instant_us = w.start_us;
        state->first = w.count;
    }

    const int64_t until_end = w.start_us + limit->span_us - now_us;
    out->allowed = passes;
    out->limit = limit->most;
    out->remaining = weir_max(limit->most - w.count, 0);
    out->retry_after_us = passes ? 0 : cost > limit->most ? WEIR_NEVER : until_end;
    out->reset_after_us = w.count > 0 ? until_end : 0;
    out->delay_us = 0;
    return effect;
}
