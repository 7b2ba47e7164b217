// concurrency: ids that hold a place until they release it or lapse.

#include "algorithm.h"

typedef struct lease {
    uint64_t id; // a hash of the id
    int64_t lapses_us;
} lease;

typedef struct lease_table {
    int64_t count;
    lease leases[];
} lease_table;

// The leases at now, nothing changed.
typedef struct lease_view {
    lease_table *table;
    int64_t held;
    int64_t mine;      // where this id stands, or -1
    int64_t oldest_us; // the first to lapse
    int64_t latest_us;
    bool stepped;
} lease_view;

// One more than two ttl ahead comes from a clock that has stepped.
static inline int64_t lapse_of(const lease *l, const weir_limit *limit, int64_t now_us)
{
    return l->lapses_us > now_us + 2 * limit->span_us ? now_us + limit->span_us : l->lapses_us;
}

static lease_view view_at(const weir_state *state, const weir_limit *limit, int64_t now_us,
                          uint64_t id)
{
    lease_view v = {.table = state->side, .mine = -1, .oldest_us = INT64_MAX};
    for (int64_t i = 0; v.table != NULL && i < v.table->count; i++) {
        const lease *l = &v.table->leases[i];
        const int64_t lapse = lapse_of(l, limit, now_us);
        v.stepped |= lapse != l->lapses_us;
        if (lapse <= now_us) {
            continue;
        }
        v.held++;
        v.oldest_us = weir_min(v.oldest_us, lapse);
        v.latest_us = weir_max(v.latest_us, lapse);
        if (l->id == id) {
            v.mine = i;
        }
    }
    return v;
}

// Brings what is recorded to now: what has lapsed goes, what lies too far ahead comes back. Returns
// where `mine` moved.
static int64_t settle(lease_table *table, const weir_limit *limit, int64_t now_us, int64_t mine)
{
    int64_t kept = 0;
    int64_t moved = -1;
    for (int64_t i = 0; i < table->count; i++) {
        const int64_t lapse = lapse_of(&table->leases[i], limit, now_us);
        if (lapse <= now_us) {
            continue;
        }
        if (i == mine) {
            moved = kept;
        }
        table->leases[kept++] = (lease){table->leases[i].id, lapse};
    }
    table->count = kept;
    return moved;
}

// When at most `left` leases are held: the instant by which all but that many have lapsed, found by
// bisection over time.
static int64_t lapses_to(const lease_view *v, const weir_limit *limit, int64_t now_us, int64_t left)
{
    int64_t low = v->oldest_us, high = v->latest_us;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t held = 0;
        for (int64_t i = 0; i < v->table->count; i++) {
            held += lapse_of(&v->table->leases[i], limit, now_us) > middle;
        }
        if (held <= left) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static weir_effect apply(lease_view *v, const weir_limit *limit, int64_t now_us, weir_verb verb,
                         uint64_t id, bool holds, bool passes)
{
    lease_table *table = v->table;
    const bool succeeds = verb == WEIR_VERB_TAKE ? passes : verb != WEIR_VERB_DENY && holds;
    if (!succeeds && !v->stepped) {
        return WEIR_UNCHANGED;
    }
    const int64_t mine = settle(table, limit, now_us, v->mine);
    if (succeeds && verb == WEIR_VERB_RELEASE) {
        table->leases[mine] = table->leases[--table->count];
    } else if (succeeds && holds) {
        lease *l = &table->leases[mine];
        l->lapses_us = weir_max(l->lapses_us, now_us + limit->span_us);
    } else if (succeeds) {
        table->leases[table->count++] = (lease){id, now_us + limit->span_us};
    }
    return WEIR_CHANGED;
}

weir_effect weir_concurrency(weir_state *state, const weir_limit *limit, int64_t now_us,
                             weir_verb verb, int64_t id, weir_decision *out)
{
    lease_view v = view_at(state, limit, now_us, (uint64_t)id);
    const bool holds = v.mine >= 0;
    const bool passes = holds || v.held < limit->most;
    weir_effect effect = WEIR_UNCHANGED;
    if (verb != WEIR_VERB_PEEK && state->side != NULL) {
        effect = apply(&v, limit, now_us, verb, (uint64_t)id, holds, passes);
    }
    if (effect == WEIR_CHANGED) {
        v = view_at(state, limit, now_us, (uint64_t)id);
        state->instant_us = v.latest_us;
    }

    const bool asks = verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK || verb == WEIR_VERB_DENY;
    out->allowed = asks ? passes : holds;
    out->limit = limit->most;
    out->remaining = weir_max(limit->most - v.held, 0);
    out->retry_after_us = 0;
    if (asks && !passes) {
        const int64_t lapse =
            v.held == limit->most ? v.oldest_us : lapses_to(&v, limit, now_us, limit->most - 1);
        out->retry_after_us = lapse - now_us;
    }
    out->reset_after_us = v.held > 0 ? v.latest_us - now_us : 0;
    out->delay_us = 0;
    return effect;
}

size_t weir_concurrency_room(const weir_state *state)
{
    const lease_table *table = state->side;
    const int64_t count = table == NULL ? 0 : table->count;
    return sizeof(lease_table) + ((size_t)count + 1) * sizeof(lease);
}
