// Whether a shared table is sound: every cell, every state, every block.
//
// Groups are read one at a time under their locks, since the kernel frees only so many locks of the
// dead. Side memory may change in between; then its blocks are accounted for once more.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/shared/shared.h"
#include "weir/shared.h"

#define ROUNDS 8

// Who has which block: the units of side memory at which one begins, once seen in the table and
// once in side memory itself.
typedef struct reading {
    memory_store *m;
    weir_shared_report report;
    unsigned char *owned; // a byte a unit: the order of the block that a key or a call has, plus 1
    uint64_t stray;       // blocks that are in use by nobody, by two, or free and in use
    weir_error *error;
} reading;

static weir_status fault(reading *r, const char *what, size_t group)
{
    return weir_fail(r->error, WEIR_STATE, "%s, in group %zu of the table", what, group);
}

static bool claim(reading *r, weir_side_block block)
{
    const uint64_t unit = (block >> 6) - 1;
    const unsigned order = weir_side_order(block);
    const weir_side *side = &r->m->side;
    if (block >> 6 == 0 || unit >= side->count || order >= WEIR_SIDE_ORDERS ||
        (UINT64_C(1) << order) > side->count - unit) {
        return false;
    }
    r->stray += r->owned[unit] != 0;
    r->owned[unit] = (unsigned char)(order + 1);
    return true;
}

static bool state_is_sound(const reading *r, const weir_cell *cell)
{
    const void *side = weir_side_bytes_at(&r->m->side, cell->second);
    const size_t bytes = weir_side_bytes(cell->second);
    switch (cell->kind) {
    case WEIR_SLIDING_LOG:
        return weir_sliding_log_sound(side, bytes);
    case WEIR_CONCURRENCY:
        return weir_concurrency_sound(side, bytes);
    default:
        return weir_sliding_counter_sound(side, bytes);
    }
}

static weir_status read_cell(reading *r, size_t group, const weir_cell *cell)
{
    if (!weir_kind_has_side(cell->kind)) {
        const bool counts = cell->first <= WEIR_COUNT_STOP && cell->second <= WEIR_COUNT_STOP;
        return counts ? WEIR_OK : fault(r, "a count is beyond what counts may be", group);
    }
    if (cell->second == 0) {
        return WEIR_OK;
    }
    if (!claim(r, cell->second)) {
        return fault(r, "a key has a block that is none", group);
    }
    r->report.blocks++;
    return state_is_sound(r, cell) ? WEIR_OK
                                   : fault(r, "a state is none that its algorithm writes", group);
}

static weir_status read_group(reading *r, size_t index)
{
    const weir_table *table = &r->m->table;
    weir_set *sets = table->sets + index * WEIR_GROUP_SETS;
    uint64_t keys = 0;
    for (unsigned s = 0; s < WEIR_GROUP_SETS; s++) {
        for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
            const uint64_t tag = sets[s].tags[i];
            if (tag == 0) {
                continue;
            }
            keys++;
            const weir_place place = weir_table_place(table, tag);
            if (place.group != &table->groups[index] ||
                weir_table_find(&place) != &sets[s].cells[i]) {
                return fault(r, "a key stands where it is not looked for, or twice", index);
            }
            const weir_status status = read_cell(r, index, &sets[s].cells[i]);
            if (status != WEIR_OK) {
                return status;
            }
        }
    }
    r->report.keys += keys;
    return keys == table->groups[index].keys ? WEIR_OK
                                             : fault(r, "keys are not as many as counted", index);
}

static void see_used(void *context, weir_side_block block)
{
    reading *r = context;
    unsigned char *owned = &r->owned[(block >> 6) - 1];
    r->stray += *owned != weir_side_order(block) + 1;
    *owned = 0;
}

// Blocks that calls have put aside are accounted for too. The journals come before all other locks.
static weir_status read_spares(reading *r)
{
    bool sound = true;
    for (uint32_t i = 0; i < r->m->journal_count; i++) {
        weir_journal *journal = &r->m->journals[i];
        if (pthread_mutex_lock(&journal->lock) == EOWNERDEAD) {
            weir_recover_journal(r->m, journal);
        }
        sound &= journal->spare_bits >> WEIR_JOURNAL_SPARES == 0;
        for (uint64_t bits = journal->spare_bits; sound && bits != 0; bits &= bits - 1) {
            sound = claim(r, journal->spares[__builtin_ctzll(bits)]);
        }
        pthread_mutex_unlock(&journal->lock);
    }
    return sound ? WEIR_OK
                 : weir_fail(r->error, WEIR_STATE,
                             "a journal has put a block aside that is none of side memory");
}

static weir_status read_side(reading *r, uint64_t changes)
{
    memory_store *m = r->m;
    if (pthread_mutex_lock(&m->head->side_lock) == EOWNERDEAD) {
        weir_recover_side(m);
    }
    size_t free_bytes = 0;
    const bool sound = weir_side_walk(&m->side, see_used, r, &free_bytes);
    const bool settled = m->head->side_changes == changes;
    pthread_mutex_unlock(&m->head->side_lock);
    if (!sound) {
        return weir_fail(r->error, WEIR_STATE,
                         "the lists of free side memory contradict its blocks");
    }
    r->report.free_bytes = free_bytes;
    r->report.settled = settled;
    for (uint32_t unit = 0; settled && unit < m->side.count; unit++) {
        r->stray += r->owned[unit] != 0;
    }
    if (settled && r->stray > 0) {
        return weir_fail(r->error, WEIR_STATE,
                         "%" PRIu64
                         " blocks of side memory are in use by nobody, by two, or free and in use",
                         r->stray);
    }
    return WEIR_OK;
}

static uint64_t side_changes(memory_store *m)
{
    if (pthread_mutex_lock(&m->head->side_lock) == EOWNERDEAD) {
        weir_recover_side(m);
    }
    const uint64_t changes = m->head->side_changes;
    pthread_mutex_unlock(&m->head->side_lock);
    return changes;
}

static weir_status read_all(reading *r)
{
    memory_store *m = r->m;
    memset(r->owned, 0, m->side.count);
    r->stray = 0;
    r->report = (weir_shared_report){.side_bytes = (uint64_t)m->side.count * WEIR_SIDE_UNIT};
    const uint64_t changes = side_changes(m);
    weir_status status = read_spares(r);
    for (uint32_t i = 0; i < m->table.group_count && status == WEIR_OK; i++) {
        weir_group_lock(m, &m->table.groups[i]);
        status = read_group(r, i);
        weir_group_unlock(&m->table.groups[i]);
    }
    return status == WEIR_OK ? read_side(r, changes) : status;
}

weir_status weir_shared_check(weir_store *store, weir_shared_report *out, weir_error *error)
{
    if (store == NULL || store->kind != &weir_shared_kind) {
        return weir_fail(error, WEIR_INVALID, "the store was not a shared one; it must be");
    }
    reading r = {.m = (memory_store *)store, .error = error};
    r.owned = calloc(r.m->side.count + 1, 1);
    if (r.owned == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "%u bytes could not be had for the check",
                         r.m->side.count + 1);
    }
    weir_status status = WEIR_OK;
    for (int round = 0; round < ROUNDS && status == WEIR_OK && !r.report.settled; round++) {
        status = read_all(&r);
    }
    free(r.owned);
    if (status == WEIR_OK) {
        *out = r.report;
        out->deaths = __atomic_load_n(&r.m->head->deaths, __ATOMIC_RELAXED);
    }
    return status;
}
