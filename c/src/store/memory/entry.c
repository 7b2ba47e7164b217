// One key during a call: from its cell to a state and back, with the side memory that it needs.

#include "store/memory/memory.h"

#include <string.h>

#include "error.h"

// How many groups one call searches for side memory before it answers WEIR_FULL: a bound on what a
// flood can cost.
#define SWEEP_GROUPS 8

weir_status weir_entry_load(const weir_call *call, weir_entry *entry, weir_error *error)
{
    const weir_cell *cell = weir_table_find(&entry->place);
    entry->present = cell != NULL;
    entry->block = 0;
    entry->copy = 0;
    entry->state = (weir_state){.instant_us = WEIR_LONG_AGO, .journal = call->journal};
    if (cell == NULL) {
        return WEIR_OK;
    }
    entry->state.instant_us = cell->instant_us;
    entry->state.first = cell->first;
    if (!weir_kind_has_side(cell->kind)) {
        entry->state.second = cell->second;
        return WEIR_OK;
    }
    if (cell->second == 0) {
        return WEIR_OK;
    }
    if (!weir_side_has(&call->m->side, cell->second)) {
        return weir_fail(error, WEIR_STATE,
                         "the key has a state under limit \"%s\" that was damaged; reset it, or "
                         "remove the store",
                         entry->limit->name);
    }
    entry->block = cell->second;
    entry->state.side = weir_side_bytes_at(&call->m->side, entry->block);
    entry->state.side_bytes = weir_side_bytes(entry->block);
    if (entry->limit->algorithm == WEIR_SLIDING_COUNTER &&
        entry->limit->slots == 1) { // a counter that had slots before, and has none now
        weir_sliding_counter_from_side(&entry->state);
    }
    return WEIR_OK;
}

void weir_memory_forget(void *context, const weir_cell *cell)
{
    weir_call *call = context;
    if (weir_kind_has_side(cell->kind) && weir_side_uses(&call->m->side, cell->second)) {
        weir_call_free(call, cell->second);
    }
}

static void empty(weir_call *call, weir_group *group, uint64_t *tag, const weir_cell *cell)
{
    weir_memory_forget(call, cell);
    weir_keep(call->journal, tag, sizeof *tag);
    *tag = 0;
    weir_call_commit(call);
    group->keys--;
}

// A block, or 0; then nothing is held.
static weir_side_block try_alloc(weir_call *call, size_t bytes)
{
    const weir_side_block block = weir_call_alloc(call, bytes);
    if (block == 0) {
        weir_call_commit(call);
    }
    return block;
}

// What one group can give: whatever has expired; and when that is not enough, of the live keys with
// a block that is large enough the one that has used the least of its limit, if that is at most
// `most_used`. Tells how much it has used.
static weir_side_block sweep_group(weir_call *call, uint32_t index, int64_t now_us, size_t bytes,
                                   unsigned most_used, unsigned *out_used)
{
    const weir_table *table = &call->m->table;
    weir_group *group = &table->groups[index];
    weir_set *sets = table->sets + (size_t)index * WEIR_GROUP_SETS;
    weir_cell *least = NULL;
    uint64_t *least_tag = NULL;
    for (unsigned s = 0; s < WEIR_GROUP_SETS; s++) {
        for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
            weir_cell *cell = &sets[s].cells[i];
            if (sets[s].tags[i] == 0 || !weir_kind_has_side(cell->kind) || cell->second == 0) {
                continue;
            }
            if (weir_cell_expires_us(cell) <= now_us) {
                empty(call, group, &sets[s].tags[i], cell);
            } else if (weir_side_bytes(cell->second) >= bytes &&
                       (least == NULL || cell->used < least->used)) {
                least = cell;
                least_tag = &sets[s].tags[i];
            }
        }
    }
    *out_used = least != NULL ? least->used : WEIR_USED_MAX + 1;
    const weir_side_block block = try_alloc(call, bytes);
    if (block != 0 || *out_used > most_used) {
        return block;
    }
    group->evicted++;
    empty(call, group, least_tag, least);
    return try_alloc(call, bytes);
}

// Side memory, at the cost of others if need be: a key that has used less than half of its limit
// goes at once; else the one of several groups that has used the least. The caller holds groups, so
// another is entered only when it is free at once: waiting for it could be for ever. Nothing that
// was noted before is undone any more.
static weir_side_block side_alloc(weir_call *call, int64_t now_us, size_t bytes)
{
    memory_store *m = call->m;
    weir_call_commit(call);
    weir_side_block block = try_alloc(call, bytes);
    const uint32_t groups = m->table.group_count;
    uint32_t least_group = 0;
    unsigned least_used = WEIR_USED_MAX + 1, used;
    for (uint32_t i = 0; block == 0 && i < SWEEP_GROUPS && i < groups; i++) {
        const uint32_t index = __atomic_fetch_add(&m->head->sweep, 1, __ATOMIC_RELAXED) % groups;
        weir_group *group = &m->table.groups[index];
        if (!weir_call_try_lock(call, group)) {
            continue;
        }
        block = sweep_group(call, index, now_us, bytes, WEIR_USED_MAX / 2, &used);
        weir_call_unlock(call, group);
        if (used < least_used) {
            least_group = index;
            least_used = used;
        }
    }
    weir_group *group = &m->table.groups[least_group];
    if (block == 0 && least_used <= WEIR_USED_MAX && weir_call_try_lock(call, group)) {
        block = sweep_group(call, least_group, now_us, bytes, WEIR_USED_MAX, &used);
        weir_call_unlock(call, group);
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

static weir_status no_side_memory(const weir_entry *entry, size_t bytes, weir_error *error)
{
    return weir_fail(error, WEIR_FULL,
                     "the store had no %zu bytes of side memory left for limit \"%s\"; give it a "
                     "larger size_bytes or side_bytes",
                     bytes, entry->limit->name);
}

// Moves the state to a block that holds at least so many bytes, which are more than it has.
static weir_status grow(weir_call *call, weir_entry *entry, int64_t now_us, size_t bytes,
                        weir_error *error)
{
    const weir_side_block block = side_alloc(call, now_us, bytes);
    if (block == 0) {
        return no_side_memory(entry, bytes, error);
    }
    void *side = weir_side_bytes_at(&call->m->side, block);
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
    if (entry->block != 0) {
        weir_call_free(call, entry->block);
    }
    entry->block = block;
    return WEIR_OK;
}

static weir_cell cell_of(const weir_entry *entry, unsigned used)
{
    const weir_limit *limit = entry->limit;
    const weir_side_block block = entry->copy != 0 ? entry->copy : entry->block;
    const uint64_t second = weir_algorithm_has_side(limit) ? block : (uint64_t)entry->state.second;
    return weir_cell_pack(limit, &entry->state, second, used);
}

static void write_cell(weir_call *call, weir_cell *cell, weir_cell value)
{
    weir_keep(call->journal, cell, sizeof *cell);
    *cell = value;
}

weir_status weir_entry_reserve(weir_call *call, weir_entry *entry, int64_t now_us,
                               const uint64_t *pinned, size_t pinned_count, weir_error *error)
{
    if (weir_algorithm_has_side(entry->limit)) {
        const size_t bytes = room_for(entry, now_us);
        if (bytes > entry->state.side_bytes) {
            const weir_status status = grow(call, entry, now_us, bytes, error);
            if (status != WEIR_OK) {
                return status;
            }
            weir_cell *cell = weir_table_find(&entry->place);
            if (cell != NULL) {
                write_cell(call, cell, cell_of(entry, cell->used));
            }
        }
    }
    if (entry->present) {
        weir_call_commit(call);
        return WEIR_OK;
    }
    weir_cell *cell = weir_table_insert(&entry->place, now_us, pinned, pinned_count,
                                        weir_memory_forget, call, call->journal);
    if (cell == NULL) {
        if (entry->block != 0) {
            weir_call_free(call, entry->block);
        }
        weir_call_commit(call);
        return weir_fail(error, WEIR_FULL,
                         "the store had no cell left for limit \"%s\"; give it a larger size_bytes",
                         entry->limit->name);
    }
    write_cell(call, cell, cell_of(entry, 0));
    weir_call_commit(call);
    return WEIR_OK;
}

// The most words that the steps of one call may write where they stand: half of what a journal
// holds, since the number is an estimate, and cells and tags are noted as well.
#define WRITES_MAX (WEIR_JOURNAL_NOTES / 2)

// Puts a block aside, to be freed when the call is over.
static void put_aside(weir_journal *journal, weir_side_block block)
{
    const int i = __builtin_ctzll(~journal->spare_bits);
    journal->spares[i] = block; // which says nothing until its bit is there
    weir_keep(journal, &journal->spare_bits, sizeof journal->spare_bits);
    journal->spare_bits |= UINT64_C(1) << i;
}

weir_status weir_entry_prepare(weir_call *call, weir_entry *entry, int64_t now_us, bool succeeds,
                               size_t count, weir_error *error)
{
    weir_state *state = &entry->state;
    if (call->journal == NULL || state->side == NULL) {
        return WEIR_OK;
    }
    size_t writes = 0;
    if (entry->limit->algorithm == WEIR_SLIDING_COUNTER) {
        writes = weir_sliding_counter_writes(state, entry->limit, now_us, succeeds);
    } else if (entry->limit->algorithm == WEIR_CONCURRENCY) {
        writes = weir_concurrency_writes(state, entry->limit, now_us, succeeds);
    }
    if (writes <= WRITES_MAX / count) {
        return WEIR_OK;
    }
    const weir_side_block copy = side_alloc(call, now_us, state->side_bytes);
    if (copy == 0) {
        return no_side_memory(entry, state->side_bytes, error);
    }
    put_aside(call->journal, copy);
    weir_call_commit(call);
    void *side = weir_side_bytes_at(&call->m->side, copy);
    memcpy(side, state->side, state->side_bytes);
    state->side = side;
    state->journal = NULL; // nobody else sees the copy
    entry->copy = copy;
    return WEIR_OK;
}

// The copy becomes the key's block, and the block takes its place among what is to be freed.
static void settle_copy(weir_call *call, weir_entry *entry)
{
    weir_journal *journal = call->journal;
    for (int i = 0; i < WEIR_JOURNAL_SPARES; i++) {
        if ((journal->spare_bits >> i & 1) && journal->spares[i] == entry->copy) {
            weir_keep(journal, &journal->spares[i], sizeof journal->spares[i]);
            journal->spares[i] = entry->block;
            return;
        }
    }
}

// Frees the block of a counter that has no slots any more.
static void drop_block(weir_call *call, weir_entry *entry)
{
    if (call->journal != NULL) {
        put_aside(call->journal, entry->block);
    } else {
        weir_call_free(call, entry->block);
    }
    entry->block = 0;
}

void weir_entry_save(weir_call *call, weir_entry *entry, weir_effect effect,
                     const weir_decision *row)
{
    if (effect == WEIR_UNCHANGED) {
        return;
    }
    if (effect == WEIR_FORGOTTEN) {
        weir_entry_forget(call, entry);
        return;
    }
    if (entry->block != 0 && !weir_algorithm_has_side(entry->limit)) {
        drop_block(call, entry);
    }
    write_cell(call, weir_table_find(&entry->place),
               cell_of(entry, weir_used_of(entry->limit, row)));
    if (entry->copy != 0) {
        settle_copy(call, entry);
    }
}

void weir_entry_forget(weir_call *call, weir_entry *entry)
{
    const weir_cell *cell = weir_table_find(&entry->place);
    uint64_t *tag = weir_tag_of(&entry->place, cell);
    weir_memory_forget(call, cell);
    weir_keep(call->journal, tag, sizeof *tag);
    *tag = 0;
    entry->place.group->keys--;
}
