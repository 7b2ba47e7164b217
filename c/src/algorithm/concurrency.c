// concurrency: ids that hold a place until they release it or lapse.

#include "algorithm.h"
#include "lease_list.h"

// The leases at now, nothing changed.
typedef struct lease_view {
    lease_list *list;
    weir_journal *journal;
    int64_t held;
    int64_t lapsed;
    lease_ref first; // the first that has not lapsed
    lease_ref ahead; // the first that lies too far ahead, of a clock that has stepped back; 0: none
    int64_t latest_us;
} lease_view;

// One that lies more than two ttl ahead becomes now + ttl; those are the last of the list.
static int64_t lapse_of(const lease *l, const weir_limit *limit, int64_t now_us)
{
    return l->lapses_us > now_us + 2 * limit->span_us ? now_us + limit->span_us : l->lapses_us;
}

static lease_view view_at(const weir_state *state, const weir_limit *limit, int64_t now_us)
{
    lease_view v = {.list = state->side, .journal = state->journal};
    if (v.list == NULL || v.list->count == 0) {
        return v;
    }
    v.held = v.list->count;
    v.first = v.list->first;
    while (v.first != 0 && lease_at(v.list, v.first)->lapses_us <= now_us) {
        v.first = lease_at(v.list, v.first)->next;
        v.held--;
        v.lapsed++;
    }
    if (v.held == 0) {
        return v;
    }
    lease_ref ref = v.list->last;
    while (ref != 0 && lease_at(v.list, ref)->lapses_us > now_us + 2 * limit->span_us) {
        v.ahead = ref;
        ref = lease_at(v.list, ref)->before;
    }
    v.latest_us = ref != 0 ? lease_at(v.list, ref)->lapses_us : now_us;
    if (v.ahead != 0) {
        v.latest_us = weir_max(v.latest_us, now_us + limit->span_us);
    }
    return v;
}

// The lease of the id if it is held.
static lease_ref held_by(const lease_view *v, const weir_limit *limit, int64_t now_us, uint64_t id)
{
    const lease_ref ref = v->held > 0 ? lease_list_find(v->list, id) : 0;
    return ref != 0 && lapse_of(lease_at(v->list, ref), limit, now_us) > now_us ? ref : 0;
}

// The instant by which n leases have lapsed. Those ahead of a stepped clock lapse together, at now
// + ttl, before whatever lies between that and two ttl.
static int64_t nth_lapse_us(const lease_view *v, const weir_limit *limit, int64_t now_us, int64_t n)
{
    const int64_t pulled_us = now_us + limit->span_us;
    int64_t pulled = 0;
    for (lease_ref ref = v->ahead; ref != 0; ref = lease_at(v->list, ref)->next) {
        pulled++;
    }
    for (lease_ref ref = v->first; ref != v->ahead; ref = lease_at(v->list, ref)->next) {
        const int64_t lapses_us = lease_at(v->list, ref)->lapses_us;
        if (pulled > 0 && lapses_us > pulled_us) {
            if (n <= pulled) {
                return pulled_us;
            }
            n -= pulled;
            pulled = 0;
        }
        if (--n == 0) {
            return lapses_us;
        }
    }
    return pulled_us;
}

// Brings what is recorded to now: what has lapsed goes, what lies too far ahead comes back.
static void settle(lease_view *v, const weir_limit *limit, int64_t now_us)
{
    if (v->ahead != 0) {
        lease_list_pull(v->list, v->journal, v->ahead, now_us + limit->span_us);
    }
    while (v->list->first != 0 && lease_at(v->list, v->list->first)->lapses_us <= now_us) {
        lease_list_remove(v->list, v->journal, v->list->first);
    }
}

static weir_effect apply(lease_view *v, const weir_limit *limit, int64_t now_us, weir_verb verb,
                         uint64_t id, bool holds, bool passes)
{
    const bool succeeds = verb == WEIR_VERB_TAKE ? passes : verb != WEIR_VERB_DENY && holds;
    if (!succeeds && v->ahead == 0) {
        return WEIR_UNCHANGED;
    }
    settle(v, limit, now_us);
    if (!succeeds) {
        return WEIR_CHANGED;
    }
    if (!holds) {
        lease_list_add(v->list, v->journal, id, now_us + limit->span_us);
        return WEIR_CHANGED;
    }
    const lease_ref mine = lease_list_find(v->list, id);
    if (verb == WEIR_VERB_RELEASE) {
        lease_list_remove(v->list, v->journal, mine);
    } else if (lease_at(v->list, mine)->lapses_us < now_us + limit->span_us) {
        lease_list_move(v->list, v->journal, mine, now_us + limit->span_us);
    }
    return WEIR_CHANGED;
}

weir_effect weir_concurrency(weir_state *state, const weir_limit *limit, int64_t now_us,
                             weir_verb verb, int64_t id, weir_decision *out)
{
    lease_view v = view_at(state, limit, now_us);
    const bool holds = held_by(&v, limit, now_us, (uint64_t)id) != 0;
    const bool passes = holds || v.held < limit->most;
    weir_effect effect = WEIR_UNCHANGED;
    if (verb != WEIR_VERB_PEEK && state->side != NULL) {
        effect = apply(&v, limit, now_us, verb, (uint64_t)id, holds, passes);
    }
    if (effect == WEIR_CHANGED) {
        v = view_at(state, limit, now_us);
        state->instant_us = v.latest_us;
    }

    const bool asks = verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK || verb == WEIR_VERB_DENY;
    out->allowed = asks ? passes : holds;
    out->limit = limit->most;
    out->remaining = weir_max(limit->most - v.held, 0);
    out->retry_after_us = 0;
    if (asks && !passes) {
        const int64_t lapsing = v.held - limit->most + 1;
        out->retry_after_us = nth_lapse_us(&v, limit, now_us, lapsing) - now_us;
    }
    out->reset_after_us = v.held > 0 ? v.latest_us - now_us : 0;
    out->delay_us = 0;
    return effect;
}

// One that has lapsed at now is dropped first if that makes room.
size_t weir_concurrency_room(weir_state *state, const weir_limit *limit, int64_t now_us)
{
    if (state->side == NULL) {
        return lease_list_bytes(1);
    }
    lease_view v = view_at(state, limit, now_us);
    if (v.list->count == v.list->capacity && v.lapsed > 0) {
        lease_list_remove(v.list, v.journal, v.list->first);
    }
    return lease_list_bytes((size_t)v.list->count + 1);
}

void weir_concurrency_fit(void *side, size_t side_bytes)
{
    lease_list_fit(side, side_bytes);
}

#define WORDS_A_LEASE 24 // that one of them moves or goes, its neighbours and the index with it

size_t weir_concurrency_writes(const weir_state *state, const weir_limit *limit, int64_t now_us,
                               bool succeeds)
{
    const lease_view v = view_at(state, limit, now_us);
    size_t leases = succeeds ? (size_t)v.lapsed + 1 : 0;
    if (v.ahead != 0) {
        leases = v.list->count;
    }
    return leases * WORDS_A_LEASE;
}

bool weir_concurrency_sound(const void *side, size_t side_bytes)
{
    return lease_list_sound(side, side_bytes);
}
