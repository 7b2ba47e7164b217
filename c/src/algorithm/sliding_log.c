// sliding_log: exact counts in (now - window, now].
//
// The entries are a ring of runs, each an instant and the number of entries up to and with it: a
// cost of a million is one run, and whatever is asked of the log is a binary search. Only the
// newest `limit` entries can matter, so no more are kept.

#include "algorithm.h"

#include <string.h>

typedef struct log_run {
    int64_t at_us;
    uint64_t upto; // entries recorded up to and with this run; differences count, so it may wrap
} log_run;

typedef struct log_ring {
    uint32_t head; // the oldest run
    uint32_t used;
    uint64_t base; // entries that were recorded before the oldest that is kept
    log_run runs[];
} log_ring;

static inline uint32_t capacity_of(size_t side_bytes)
{
    return (uint32_t)((side_bytes - sizeof(log_ring)) / sizeof(log_run));
}

// A view of the log at now, nothing changed: which runs live, and how many entries.
typedef struct log_view {
    log_ring *ring; // NULL: nothing recorded
    weir_journal *journal;
    uint32_t capacity;
    uint32_t first;  // the first live run, counted from head
    uint32_t ahead;  // the first run that lies ahead of a clock that has stepped back; used when it
                     // has not
    uint64_t before; // entries before the first that counts
    int64_t live;
    int64_t newest_us;
    bool stepped;
} log_view;

static inline log_run *run_at(const log_view *v, uint32_t index)
{
    uint32_t place = v->ring->head + index;
    return &v->ring->runs[place >= v->capacity ? place - v->capacity : place];
}

static inline uint64_t upto_before(const log_view *v, uint32_t index)
{
    return index == 0 ? v->ring->base : run_at(v, index - 1)->upto;
}

// The first run later than the instant; used when there is none.
static uint32_t first_after(const log_view *v, int64_t instant_us)
{
    uint32_t low = 0, high = v->ring->used;
    if (high == 0 || run_at(v, 0)->at_us > instant_us) {
        return 0;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (run_at(v, middle)->at_us > instant_us) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static log_view view_at(const weir_state *state, const weir_limit *limit, int64_t now_us)
{
    log_view v = {.ring = state->side, .journal = state->journal, .newest_us = WEIR_LONG_AGO};
    if (v.ring == NULL || v.ring->used == 0) {
        return v;
    }
    v.capacity = capacity_of(state->side_bytes);
    const log_run *last = run_at(&v, v.ring->used - 1);
    v.stepped = last->at_us > now_us + limit->span_us;
    v.ahead = v.stepped ? first_after(&v, now_us) : v.ring->used;
    v.newest_us = v.stepped ? now_us : last->at_us;
    v.first = first_after(&v, now_us - limit->span_us);
    v.before = v.first == v.ring->used ? last->upto : upto_before(&v, v.first);
    v.live = (int64_t)(last->upto - v.before);
    if (v.live > limit->most) {
        v.before += (uint64_t)(v.live - limit->most);
        v.live = limit->most;
    }
    return v;
}

// The instant of the entry that is the nth newest, n from 1 to live.
static int64_t nth_newest_us(const log_view *v, int64_t n, int64_t now_us)
{
    const uint64_t wanted = v->before + (uint64_t)(v->live - n) + 1;
    uint32_t low = v->first, high = v->ring->used - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)(run_at(v, middle)->upto - wanted) >= 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low >= v->ahead ? now_us : run_at(v, low)->at_us;
}

static void write_run(const log_view *v, uint32_t index, log_run run)
{
    weir_keep(v->journal, run_at(v, index), sizeof run);
    *run_at(v, index) = run;
}

// Drops runs of which no entry counts any more.
static void drop_before(log_view *v, uint64_t before)
{
    log_ring *ring = v->ring;
    uint32_t low = 0, high = ring->used;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((int64_t)(run_at(v, middle)->upto - before) > 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    weir_keep(v->journal, ring, sizeof *ring);
    ring->head = (uint32_t)(((uint64_t)ring->head + low) % v->capacity);
    ring->used -= low;
    ring->base = before;
}

// Brings what is recorded to now: drops what has expired or can't matter, and gathers what lies
// ahead of a stepped clock.
static void settle(log_view *v, int64_t now_us)
{
    if (v->ring->used == 0) {
        return;
    }
    if (v->ahead < v->ring->used) {
        uint64_t upto = run_at(v, v->ring->used - 1)->upto;
        write_run(v, v->ahead, (log_run){now_us, upto});
        weir_keep(v->journal, v->ring, sizeof *v->ring);
        v->ring->used = v->ahead + 1;
        v->ahead = v->ring->used;
    }
    drop_before(v, v->before);
    v->first = 0;
    v->ahead = v->ring->used;
}

// Appends entries to a settled log, and keeps the newest `most`.
static void append(log_view *v, const weir_limit *limit, int64_t now_us, int64_t cost)
{
    log_ring *ring = v->ring;
    const int64_t at = weir_max(now_us, v->newest_us);
    const log_run *last = ring->used > 0 ? run_at(v, ring->used - 1) : NULL;
    if (last != NULL && last->at_us == at) {
        write_run(v, ring->used - 1, (log_run){at, last->upto + (uint64_t)cost});
    } else {
        const uint64_t upto = last != NULL ? last->upto : ring->base;
        if (ring->used == v->capacity) { // as many runs as entries may be kept: the oldest goes
            drop_before(v, run_at(v, 0)->upto);
        }
        write_run(v, ring->used, (log_run){at, upto + (uint64_t)cost});
        weir_keep(v->journal, ring, sizeof *ring);
        ring->used++;
    }
    v->live += cost;
    if (v->live > limit->most) {
        v->live = limit->most;
        drop_before(v, run_at(v, ring->used - 1)->upto - (uint64_t)limit->most);
    }
    v->before = ring->base;
    v->ahead = ring->used;
    v->newest_us = at;
}

// Forgets the newest entries of a settled log, whose ring has been noted by that.
static void forget(log_view *v, int64_t cost)
{
    log_ring *ring = v->ring;
    uint64_t left = (uint64_t)weir_min(cost, v->live);
    v->live -= (int64_t)left;
    while (left > 0) {
        const log_run *last = run_at(v, ring->used - 1);
        const uint64_t in_run = last->upto - upto_before(v, ring->used - 1);
        if (in_run > left) {
            write_run(v, ring->used - 1, (log_run){last->at_us, last->upto - left});
            break;
        }
        left -= in_run;
        ring->used--;
    }
    v->ahead = ring->used;
    v->newest_us = ring->used > 0 ? run_at(v, ring->used - 1)->at_us : WEIR_LONG_AGO;
}

static weir_effect apply(log_view *v, const weir_limit *limit, int64_t now_us, weir_verb verb,
                         int64_t cost, bool passes)
{
    switch (verb) {
    case WEIR_VERB_REFUND:
        if (cost == 0 || v->live == 0) {
            return WEIR_UNCHANGED;
        }
        settle(v, now_us);
        forget(v, cost);
        return WEIR_CHANGED;
    case WEIR_VERB_CHARGE:
        if (cost == 0) {
            return WEIR_UNCHANGED;
        }
        settle(v, now_us);
        append(v, limit, now_us, weir_min(cost, limit->most));
        return WEIR_CHANGED;
    default:
        break;
    }
    const bool takes = verb == WEIR_VERB_TAKE && passes;
    if (cost > 0 && (takes || (limit->count_denied && cost <= limit->most))) {
        settle(v, now_us);
        append(v, limit, now_us, cost);
        return WEIR_CHANGED;
    }
    if (!v->stepped) {
        return WEIR_UNCHANGED;
    }
    settle(v, now_us);
    return WEIR_CHANGED;
}

weir_effect weir_sliding_log(weir_state *state, const weir_limit *limit, int64_t now_us,
                             weir_verb verb, int64_t cost, weir_decision *out)
{
    log_view v = view_at(state, limit, now_us);
    const bool asks = verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK || verb == WEIR_VERB_DENY;
    const bool passes = !asks || cost == 0 || v.live + cost <= limit->most;
    weir_effect effect = WEIR_UNCHANGED;
    if (verb != WEIR_VERB_PEEK && state->side != NULL) {
        v.capacity = capacity_of(state->side_bytes);
        effect = apply(&v, limit, now_us, verb, cost, passes);
        if (effect == WEIR_CHANGED) {
            state->instant_us = v.newest_us;
        }
    }

    out->allowed = passes;
    out->limit = limit->most;
    out->remaining = limit->most - v.live;
    out->retry_after_us = 0;
    if (asks && (!passes || verb == WEIR_VERB_DENY) && cost > 0) {
        if (cost > limit->most) {
            out->retry_after_us = WEIR_NEVER;
        } else if (v.live + cost > limit->most) {
            const int64_t blocking = limit->most - cost + 1;
            out->retry_after_us = nth_newest_us(&v, blocking, now_us) + limit->span_us - now_us;
        }
    }
    out->reset_after_us = v.live > 0 ? v.newest_us + limit->span_us - now_us : 0;
    out->delay_us = 0;
    return effect;
}

size_t weir_sliding_log_room(weir_state *state, const weir_limit *limit, int64_t now_us)
{
    if (state->side == NULL) {
        return sizeof(log_ring) + sizeof(log_run);
    }
    log_view v = view_at(state, limit, now_us);
    v.capacity = capacity_of(state->side_bytes);
    if (v.ring->used == v.capacity) {
        settle(&v, now_us);
    }
    const int64_t runs = weir_min((int64_t)v.ring->used + 1, limit->most);
    return sizeof(log_ring) + (size_t)runs * sizeof(log_run);
}

// The ring was copied as it stood; the part that had wrapped around moves behind the rest, for
// which a block of twice the size has room.
void weir_sliding_log_grown(void *side, size_t old_bytes)
{
    log_ring *ring = side;
    const uint32_t old = capacity_of(old_bytes);
    if (ring->head + ring->used > old) {
        const uint32_t wrapped = ring->head + ring->used - old;
        memcpy(&ring->runs[old], &ring->runs[0], wrapped * sizeof(log_run));
    }
}

bool weir_sliding_log_sound(const void *side, size_t side_bytes)
{
    const log_view v = {.ring = (log_ring *)side, .capacity = capacity_of(side_bytes)};
    if (v.ring->used > v.capacity || (v.ring->used > 0 && v.ring->head >= v.capacity)) {
        return false;
    }
    for (uint32_t i = 0; i < v.ring->used; i++) {
        const bool counts = (int64_t)(run_at(&v, i)->upto - upto_before(&v, i)) > 0;
        const bool ordered = i == 0 || run_at(&v, i - 1)->at_us < run_at(&v, i)->at_us;
        if (!counts || !ordered) {
            return false;
        }
    }
    return true;
}
