// One key during a call: from its cell to a state and back, with the side memory that it needs.

#include "store/memory/memory.h"

#include <string.h>

#include "error.h"

// How many groups one call searches for side memory before it answers WEIR_FULL: a bound on what a
// flood can cost.
#define SWEEP_GROUPS 8

void weir_entry_load(const memory_store *m, weir_entry *entry)
{
    const weir_cell *cell = weir_table_find(&entry->place);
    entry->present = cell != NULL;
    entry->block = 0;
    entry->state = (weir_state){.instant_us = WEIR_LONG_AGO};
    if (cell == NULL) {
        return;
    }
    entry->state.instant_us = cell->instant_us;
    entry->state.first = cell->first;
    if (!weir_kind_has_side(cell->kind)) {
        entry->state.second = cell->second;
        return;
    }
    entry->block = cell->second;
    if (entry->block == 0) {
        return;
    }
    entry->state.side = weir_side_at(&m->side, entry->block);
    entry->state.side_bytes = weir_side_bytes(entry->block);
    if (entry->limit->algorithm == WEIR_SLIDING_COUNTER &&
        entry->limit->slots == 1) { // a counter that had slots before, and has none now
        weir_sliding_counter_from_side(&entry->state);
    }
}

static void free_block(memory_store *m, weir_side_block block)
{
    if (block == 0) {
        return;
    }
    pthread_mutex_lock(&m->side_lock);
    weir_side_free(&m->side, block);
    pthread_mutex_unlock(&m->side_lock);
}

void weir_memory_forget(void *context, const weir_cell *cell)
{
    if (weir_kind_has_side(cell->kind)) {
        free_block(context, cell->second);
    }
}

static weir_side_block try_alloc(memory_store *m, size_t bytes)
{
    pthread_mutex_lock(&m->side_lock);
    const weir_side_block block = weir_side_alloc(&m->side, bytes);
    pthread_mutex_unlock(&m->side_lock);
    return block;
}

static void empty(memory_store *m, weir_group *group, uint64_t *tag, const weir_cell *cell)
{
    weir_memory_forget(m, cell);
    *tag = 0;
    group->keys--;
}

// What one group can give: whatever has expired; and when that is not enough, of the live keys with
// a block that is large enough the one that has used the least of its limit, if that is at most
// `most_used`. Tells how much it has used.
static weir_side_block sweep_group(memory_store *m, uint32_t index, int64_t now_us, size_t bytes,
                                   unsigned most_used, unsigned *out_used)
{
    weir_group *group = &m->table.groups[index];
    weir_set *sets = m->table.sets + (size_t)index * WEIR_GROUP_SETS;
    weir_cell *least = NULL;
    uint64_t *least_tag = NULL;
    for (unsigned s = 0; s < WEIR_GROUP_SETS; s++) {
        for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
            weir_cell *cell = &sets[s].cells[i];
            if (sets[s].tags[i] == 0 || !weir_kind_has_side(cell->kind) || cell->second == 0) {
                continue;
            }
            if (weir_cell_expires_us(cell) <= now_us) {
                empty(m, group, &sets[s].tags[i], cell);
            } else if (weir_side_bytes(cell->second) >= bytes &&
                       (least == NULL || cell->used < least->used)) {
                least = cell;
                least_tag = &sets[s].tags[i];
            }
        }
    }
    *out_used = least != NULL ? least->used : WEIR_USED_MAX + 1;
    const weir_side_block block = try_alloc(m, bytes);
    if (block != 0 || *out_used > most_used) {
        return block;
    }
    empty(m, group, least_tag, least);
    group->evicted++;
    return try_alloc(m, bytes);
}

// Side memory, at the cost of others if need be: a key that has used less than half of its limit
// goes at once; else the one of several groups that has used the least. The caller holds groups, so
// another is entered only when it is free at once: waiting for it could be for ever.
static weir_side_block side_alloc(memory_store *m, int64_t now_us, size_t bytes)
{
    weir_side_block block = try_alloc(m, bytes);
    const uint32_t groups = m->table.group_count;
    uint32_t least_group = 0;
    unsigned least_used = WEIR_USED_MAX + 1, used;
    for (uint32_t i = 0; block == 0 && i < SWEEP_GROUPS && i < groups; i++) {
        const uint32_t index = __atomic_fetch_add(&m->sweep, 1, __ATOMIC_RELAXED) % groups;
        weir_group *group = &m->table.groups[index];
        if (pthread_mutex_trylock(&group->lock) != 0) {
            continue;
        }
        block = sweep_group(m, index, now_us, bytes, WEIR_USED_MAX / 2, &used);
        weir_group_unlock(group);
        if (used < least_used) {
            least_group = index;
            least_used = used;
        }
    }
    weir_group *group = &m->table.groups[least_group];
    if (block == 0 && least_used <= WEIR_USED_MAX && pthread_mutex_trylock(&group->lock) == 0) {
        block = sweep_group(m, least_group, now_us, bytes, WEIR_USED_MAX, &used);
        weir_group_unlock(group);
    }
    return block;
}

static size_t room_for(weir_entry *entry, int64_t now_us)
{
    switch (entry->limit->algorithm) {
    case WEIR_SLIDING_LOG:
        return weir_sliding_log_room(&entry->state, entry->limit, now_us);
    case WEIR_CONCURRENCY:
        return weir_concurrency_room(&entry->state, entry->limit, now_us);
    default:
        return weir_sliding_counter_room(entry->limit);
    }
}

// Moves the state to a block that holds at least so many bytes, which are more than it has.
static weir_status grow(memory_store *m, weir_entry *entry, int64_t now_us, size_t bytes,
                        weir_error *error)
{
    const weir_side_block block = side_alloc(m, now_us, bytes);
    if (block == 0) {
        return weir_fail(error, WEIR_FULL,
                         "the store had no %zu bytes of side memory left for limit \"%s\"; give it "
                         "a larger size_bytes or side_bytes",
                         bytes, entry->limit->name);
    }
    void *side = weir_side_at(&m->side, block);
    const size_t old_bytes = entry->state.side_bytes;
    const bool counter = entry->limit->algorithm == WEIR_SLIDING_COUNTER;
    if (entry->state.side != NULL) {
        memcpy(side, entry->state.side, old_bytes);
        if (entry->limit->algorithm == WEIR_SLIDING_LOG) {
            weir_sliding_log_grown(side, old_bytes);
        }
    }
    if (entry->limit->algorithm == WEIR_CONCURRENCY) {
        weir_concurrency_fit(side, weir_side_bytes(block));
    }
    const bool was_pair = counter && entry->state.side == NULL;
    entry->state.side = side;
    entry->state.side_bytes = weir_side_bytes(block);
    if (was_pair) {
        weir_sliding_counter_to_side(&entry->state, entry->limit);
    }
    free_block(m, entry->block);
    entry->block = block;
    return WEIR_OK;
}

static weir_cell cell_of(const weir_entry *entry, unsigned used)
{
    const weir_limit *limit = entry->limit;
    const uint64_t second =
        weir_algorithm_has_side(limit) ? entry->block : (uint64_t)entry->state.second;
    return weir_cell_pack(limit, &entry->state, second, used);
}

weir_status weir_entry_reserve(memory_store *m, weir_entry *entry, int64_t now_us,
                               const uint64_t *pinned, size_t pinned_count, weir_error *error)
{
    if (weir_algorithm_has_side(entry->limit)) {
        const size_t bytes = room_for(entry, now_us);
        if (bytes > entry->state.side_bytes) {
            const weir_status status = grow(m, entry, now_us, bytes, error);
            if (status != WEIR_OK) {
                return status;
            }
            weir_cell *cell = weir_table_find(&entry->place);
            if (cell != NULL) {
                *cell = cell_of(entry, cell->used);
            }
        }
    }
    if (entry->present) {
        return WEIR_OK;
    }
    weir_cell *cell =
        weir_table_insert(&entry->place, now_us, pinned, pinned_count, weir_memory_forget, m);
    if (cell == NULL) {
        free_block(m, entry->block);
        return weir_fail(error, WEIR_FULL,
                         "the store had no cell left for limit \"%s\"; give it a larger size_bytes",
                         entry->limit->name);
    }
    *cell = cell_of(entry, 0);
    return WEIR_OK;
}

void weir_entry_save(memory_store *m, weir_entry *entry, weir_effect effect,
                     const weir_decision *row)
{
    if (effect == WEIR_UNCHANGED) {
        return;
    }
    if (effect == WEIR_FORGOTTEN) {
        weir_entry_forget(m, entry);
        return;
    }
    if (entry->block != 0 && !weir_algorithm_has_side(entry->limit)) {
        free_block(m, entry->block); // of a counter that has no slots any more
        entry->block = 0;
    }
    *weir_table_find(&entry->place) = cell_of(entry, weir_used_of(entry->limit, row));
}

void weir_entry_forget(memory_store *m, weir_entry *entry)
{
    weir_cell *cell = weir_table_find(&entry->place);
    weir_memory_forget(m, cell);
    *weir_tag_of(&entry->place, cell) = 0;
    entry->place.group->keys--;
}
