// sliding_counter: the counts of whole slots, and a share of the oldest.
//
// With e the time since the newest slot began and w the size of a slot, the estimate is
//     whole + oldest x (w - e) / w
// where `whole` is the sum of the newest n slots and `oldest` the one before them. `strict` counts
// the oldest whole, which bounds what any window can hold. Comparisons multiply by w instead of
// dividing, so every answer is exact.

#include "algorithm.h"

#include <string.h>

typedef __int128 wide;

// The counts in side memory: newest first, slots + 1 of them.
typedef struct counter_side {
    int64_t slots;
    int64_t counts[];
} counter_side;

// The counter at now: count i is that of i slots before the one judged, start_us.
typedef struct counter_view {
    const int64_t *counts;
    int64_t known; // how many counts there are
    int64_t shift; // slots that have begun since the newest recorded
    int64_t start_us;
    int64_t elapsed_us; // since start_us
    bool stepped;
} counter_view;

static inline int64_t count_at(const counter_view *v, int64_t index)
{
    const int64_t place = index - v->shift;
    return place >= 0 && place < v->known ? v->counts[place] : 0;
}

static counter_view view_at(const weir_state *state, const weir_limit *limit, int64_t now_us,
                            const int64_t pair[2])
{
    const counter_side *side = state->side;
    counter_view v = {.counts = side != NULL ? side->counts : pair,
                      .known = side != NULL ? side->slots + 1 : 2};
    const int64_t slot = limit->slot_us;
    v.start_us = now_us / slot * slot;
    v.elapsed_us = now_us - v.start_us;
    const int64_t recorded = state->instant_us;
    if (recorded < v.start_us) {
        const int64_t age = v.start_us - recorded;
        v.shift = age > limit->span_us + slot ? limit->slots + 1 : (age + slot - 1) / slot;
        return v;
    }
    const int64_t slots_ahead = (recorded - v.start_us) / slot;
    if (slots_ahead > limit->slots) {
        v.stepped = true;
    } else if (slots_ahead > 0) { // a late caller is judged at the start of the newest slot
        v.start_us += slots_ahead * slot;
        v.elapsed_us = 0;
    }
    return v;
}

static int64_t whole_at(const counter_view *v, int64_t slots)
{
    int64_t sum = 0;
    for (int64_t i = v->shift; i < slots && i - v->shift < v->known; i++) {
        sum += v->counts[i - v->shift];
    }
    return sum;
}

// The share of the oldest slot that still counts, rounded down: what is left of the estimate's
// fraction never matters, since whole counts are added to it.
static int64_t weighted(int64_t oldest, const weir_limit *limit, int64_t elapsed_us)
{
    if (limit->strict || elapsed_us == 0 || oldest == 0) {
        return oldest;
    }
    return (int64_t)((wide)oldest * (limit->slot_us - elapsed_us) / limit->slot_us);
}

// When the estimate has fallen to at most `room`, from 0 to limit, counted from the start of the
// slot judged.
//
// After j more slots the estimate is A + B (w - e) / w, with B the slot then oldest. floor(that) <=
// room is B e > w (A + B - room - 1), so the first e is one above the floor of the quotient; at its
// end the slot is out.
static int64_t falls_to(const counter_view *v, const weir_limit *limit, int64_t room)
{
    const int64_t slot = limit->slot_us;
    int64_t whole = whole_at(v, limit->slots);
    for (int64_t j = 0; j <= limit->slots; j++) {
        const int64_t oldest = count_at(v, limit->slots - j);
        if (whole + oldest <= room) {
            return j * slot;
        }
        if (whole <= room) {
            if (limit->strict) {
                return (j + 1) * slot;
            }
            const wide e = (wide)slot * (whole + oldest - room - 1) / oldest + 1;
            return j * slot + (int64_t)e;
        }
        whole -= count_at(v, limit->slots - j - 1);
    }
    return (limit->slots + 1) * slot;
}

static int64_t reset_after(const counter_view *v, const weir_limit *limit, int64_t now_us)
{
    for (int64_t i = 0; i <= limit->slots; i++) {
        if (count_at(v, i) > 0) {
            return v->start_us - i * limit->slot_us + limit->span_us + limit->slot_us - now_us;
        }
    }
    return 0;
}

// Records the counts as they stand at the slot judged, its own changed by `added`.
static void record(weir_state *state, const weir_limit *limit, const counter_view *v, int64_t added)
{
    const int64_t newest = count_at(v, 0) + added;
    state->instant_us = v->start_us;
    counter_side *side = state->side;
    if (side == NULL) {
        state->first = count_at(v, 1);
        state->second = newest;
        return;
    }
    if (v->shift == 0 && side->slots == limit->slots) {
        weir_keep(state->journal, &side->counts[0], sizeof side->counts[0]);
        side->counts[0] = newest;
        return;
    }
    weir_keep(state->journal, side, weir_sliding_counter_room(limit));
    const int64_t size = limit->slots + 1;
    const int64_t shift = weir_min(v->shift, size);
    const int64_t kept = weir_min(size - shift, v->known);
    memmove(&side->counts[shift], &side->counts[0], (size_t)kept * sizeof(int64_t));
    memset(&side->counts[0], 0, (size_t)shift * sizeof(int64_t));
    memset(&side->counts[shift + kept], 0, (size_t)(size - shift - kept) * sizeof(int64_t));
    side->counts[0] = newest;
    side->slots = limit->slots;
}

weir_effect weir_sliding_counter(weir_state *state, const weir_limit *limit, int64_t now_us,
                                 weir_verb verb, int64_t cost, weir_decision *out)
{
    int64_t pair[2] = {state->second, state->first};
    counter_view v = view_at(state, limit, now_us, pair);
    const int64_t estimate =
        whole_at(&v, limit->slots) + weighted(count_at(&v, limit->slots), limit, v.elapsed_us);
    const int64_t newest = count_at(&v, 0);
    bool passes = true;
    int64_t added = 0;
    bool records = v.stepped;
    switch (verb) {
    case WEIR_VERB_REFUND:
        added = -weir_min(cost, newest);
        records = added != 0;
        break;
    case WEIR_VERB_CHARGE:
        added = weir_min(cost, WEIR_COUNT_STOP - newest);
        records = cost > 0;
        break;
    default:
        passes = cost == 0 || estimate + cost <= limit->most;
        if (verb == WEIR_VERB_TAKE && passes && cost > 0) {
            added = cost;
            records = true;
        }
    }

    out->allowed = passes;
    out->limit = limit->most;
    out->remaining = weir_max(limit->most - estimate - added, 0);
    out->retry_after_us = 0;
    if (!passes) {
        out->retry_after_us = cost > limit->most
                                  ? WEIR_NEVER
                                  : v.start_us - now_us + falls_to(&v, limit, limit->most - cost);
    }
    out->delay_us = 0;
    if (!records || verb == WEIR_VERB_PEEK || (state->side == NULL && limit->slots > 1)) {
        out->reset_after_us = reset_after(&v, limit, now_us);
        return WEIR_UNCHANGED;
    }
    record(state, limit, &v, added);
    pair[0] = state->second;
    pair[1] = state->first;
    v = (counter_view){.counts = v.counts, .known = limit->slots + 1, .start_us = v.start_us};
    out->reset_after_us = reset_after(&v, limit, now_us);
    return WEIR_CHANGED;
}

size_t weir_sliding_counter_room(const weir_limit *limit)
{
    return sizeof(counter_side) + ((size_t)limit->slots + 1) * sizeof(int64_t);
}

size_t weir_sliding_counter_writes(const weir_state *state, const weir_limit *limit, int64_t now_us,
                                   bool succeeds)
{
    const counter_side *side = state->side;
    if (side == NULL) {
        return 0;
    }
    const counter_view v = view_at(state, limit, now_us, NULL);
    if (!succeeds && !v.stepped) {
        return 0;
    }
    return v.shift == 0 && side->slots == limit->slots
               ? 1
               : weir_sliding_counter_room(limit) / sizeof(int64_t);
}

bool weir_sliding_counter_sound(const void *side, size_t side_bytes)
{
    const counter_side *counter = side;
    if (counter->slots < 1 || counter->slots > WEIR_SLOTS_MAX ||
        sizeof *counter + (size_t)(counter->slots + 1) * sizeof(int64_t) > side_bytes) {
        return false;
    }
    for (int64_t i = 0; i <= counter->slots; i++) {
        if (counter->counts[i] < 0 || counter->counts[i] > WEIR_COUNT_STOP) {
            return false;
        }
    }
    return true;
}

void weir_sliding_counter_to_side(weir_state *state, const weir_limit *limit)
{
    counter_side *side = state->side;
    memset(side, 0, weir_sliding_counter_room(limit));
    side->slots = limit->slots;
    side->counts[0] = state->second;
    side->counts[1] = state->first;
}

void weir_sliding_counter_from_side(weir_state *state)
{
    const counter_side *side = state->side;
    state->second = side->counts[0];
    state->first = side->counts[1];
    state->side = NULL;
    state->side_bytes = 0;
}
