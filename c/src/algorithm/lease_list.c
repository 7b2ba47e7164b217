// The leases of one key, in the order in which they lapse.

#include "lease_list.h"

#include <string.h>

#define PLACES_A_LEASE 2

static lease_ref *index_of(const lease_list *list)
{
    return (lease_ref *)&list->leases[list->capacity];
}

static uint32_t places(const lease_list *list)
{
    return list->capacity * PLACES_A_LEASE;
}

// Ids are hashes, so their upper half spreads evenly over any number of places.
static uint32_t home_of(const lease_list *list, uint64_t id)
{
    return (uint32_t)(((id >> 32) * places(list)) >> 32);
}

static uint32_t after(const lease_list *list, uint32_t place)
{
    return place + 1 == places(list) ? 0 : place + 1;
}

size_t lease_list_bytes(size_t count)
{
    return sizeof(lease_list) + count * (sizeof(lease) + PLACES_A_LEASE * sizeof(lease_ref));
}

static void index_set(lease_list *list, weir_journal *journal, uint32_t place, lease_ref ref)
{
    lease_ref *at = &index_of(list)[place];
    weir_keep(journal, at, sizeof *at);
    *at = ref;
}

static void index_add(lease_list *list, weir_journal *journal, lease_ref ref)
{
    const lease_ref *index = index_of(list);
    uint32_t place = home_of(list, lease_at(list, ref)->id);
    while (index[place] != 0) {
        place = after(list, place);
    }
    index_set(list, journal, place, ref);
}

static uint32_t index_place(const lease_list *list, lease_ref ref)
{
    const lease_ref *index = index_of(list);
    uint32_t place = home_of(list, lease_at(list, ref)->id);
    while (index[place] != ref) {
        place = after(list, place);
    }
    return place;
}

// How far a place is behind the home of what stands there.
static uint32_t distance(const lease_list *list, uint32_t place)
{
    const uint32_t home = home_of(list, lease_at(list, index_of(list)[place])->id);
    return place >= home ? place - home : place + places(list) - home;
}

// Empties a place; those behind it that are not at home move up, so that a search may stop at the
// first empty place.
static void index_remove(lease_list *list, weir_journal *journal, lease_ref ref)
{
    const lease_ref *index = index_of(list);
    uint32_t hole = index_place(list, ref);
    uint32_t gap = 1;
    for (uint32_t place = after(list, hole); index[place] != 0; place = after(list, place), gap++) {
        if (distance(list, place) >= gap) {
            index_set(list, journal, hole, index[place]);
            hole = place;
            gap = 0;
        }
    }
    index_set(list, journal, hole, 0);
}

static uint32_t lease_list_capacity(size_t bytes)
{
    return (uint32_t)((bytes - sizeof(lease_list)) / (lease_list_bytes(1) - sizeof(lease_list)));
}

void lease_list_fit(lease_list *list, size_t bytes)
{
    list->capacity = lease_list_capacity(bytes);
    memset(index_of(list), 0, places(list) * sizeof(lease_ref));
    for (lease_ref ref = 1; ref <= list->count; ref++) {
        index_add(list, NULL, ref);
    }
}

lease_ref lease_list_find(const lease_list *list, uint64_t id)
{
    const lease_ref *index = index_of(list);
    for (uint32_t place = home_of(list, id); index[place] != 0; place = after(list, place)) {
        if (lease_at(list, index[place])->id == id) {
            return index[place];
        }
    }
    return 0;
}

// A lease that is about to be changed.
static lease *open_lease(lease_list *list, weir_journal *journal, lease_ref ref)
{
    lease *l = lease_at(list, ref);
    weir_keep(journal, l, sizeof *l);
    return l;
}

// What names the lease behind `before`: that one's next, or the list's first. Likewise the other
// way.
static void set_next(lease_list *list, weir_journal *journal, lease_ref before, lease_ref next)
{
    *(before != 0 ? &open_lease(list, journal, before)->next : &list->first) = next;
}

static void set_before(lease_list *list, weir_journal *journal, lease_ref next, lease_ref before)
{
    *(next != 0 ? &open_lease(list, journal, next)->before : &list->last) = before;
}

static void unlink_lease(lease_list *list, weir_journal *journal, lease_ref ref)
{
    const lease *l = lease_at(list, ref);
    set_next(list, journal, l->before, l->next);
    set_before(list, journal, l->next, l->before);
}

// Puts a chain of leases, from `from` to `to` in order, behind `behind`, or first when that is 0.
static void link_behind(lease_list *list, weir_journal *journal, lease_ref behind, lease_ref from,
                        lease_ref to)
{
    const lease_ref next = behind != 0 ? lease_at(list, behind)->next : list->first;
    open_lease(list, journal, from)->before = behind;
    open_lease(list, journal, to)->next = next;
    set_next(list, journal, behind, from);
    set_before(list, journal, next, to);
}

// The last lease that lapses no later, or 0. Nearly always that is the last of all.
static lease_ref last_until(const lease_list *list, int64_t lapses_us)
{
    lease_ref ref = list->last;
    while (ref != 0 && lease_at(list, ref)->lapses_us > lapses_us) {
        ref = lease_at(list, ref)->before;
    }
    return ref;
}

void lease_list_add(lease_list *list, weir_journal *journal, uint64_t id, int64_t lapses_us)
{
    weir_keep(journal, list, sizeof *list);
    const lease_ref behind = last_until(list, lapses_us);
    const lease_ref ref = ++list->count;
    *open_lease(list, journal, ref) = (lease){.id = id, .lapses_us = lapses_us};
    link_behind(list, journal, behind, ref, ref);
    index_add(list, journal, ref);
}

void lease_list_remove(lease_list *list, weir_journal *journal, lease_ref ref)
{
    weir_keep(journal, list, sizeof *list);
    unlink_lease(list, journal, ref);
    index_remove(list, journal, ref);
    const lease_ref moved = list->count--;
    if (moved == ref) {
        return;
    }
    const uint32_t place = index_place(list, moved);
    const lease *l = lease_at(list, moved);
    *open_lease(list, journal, ref) = *l;
    set_next(list, journal, l->before, ref);
    set_before(list, journal, l->next, ref);
    index_set(list, journal, place, ref);
}

void lease_list_move(lease_list *list, weir_journal *journal, lease_ref ref, int64_t lapses_us)
{
    weir_keep(journal, list, sizeof *list);
    unlink_lease(list, journal, ref);
    open_lease(list, journal, ref)->lapses_us = lapses_us;
    link_behind(list, journal, last_until(list, lapses_us), ref, ref);
}

void lease_list_pull(lease_list *list, weir_journal *journal, lease_ref ref, int64_t lapses_us)
{
    weir_keep(journal, list, sizeof *list);
    const lease_ref last = list->last, before = lease_at(list, ref)->before;
    for (lease_ref at = ref; at != 0; at = lease_at(list, at)->next) {
        open_lease(list, journal, at)->lapses_us = lapses_us;
    }
    set_next(list, journal, before, 0);
    list->last = before;
    link_behind(list, journal, last_until(list, lapses_us), ref, last);
}

bool lease_list_sound(const lease_list *list, size_t bytes)
{
    if (list->capacity != lease_list_capacity(bytes) || list->count > list->capacity) {
        return false;
    }
    lease_ref before = 0;
    uint32_t count = 0;
    for (lease_ref ref = list->first; ref != 0; ref = lease_at(list, ref)->next) {
        if (ref > list->count || ++count > list->count || lease_at(list, ref)->before != before ||
            (before != 0 && lease_at(list, before)->lapses_us > lease_at(list, ref)->lapses_us)) {
            return false;
        }
        before = ref;
    }
    uint32_t named = 0;
    for (uint32_t place = 0; place < places(list); place++) {
        const lease_ref ref = index_of(list)[place];
        if (ref > list->count) {
            return false;
        }
        named += ref != 0;
    }
    if (count != list->count || list->last != before || named != count) {
        return false;
    }
    for (lease_ref ref = 1; ref <= count; ref++) {
        if (lease_list_find(list, lease_at(list, ref)->id) != ref) {
            return false;
        }
    }
    return true;
}
