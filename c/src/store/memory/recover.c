// After a death: who gets a lock that its holder took to the grave puts back what that had begun.
//
// The kernel hands such a lock on with EOWNERDEAD (robust mutexes). All locks of the dead are held
// by it until they are handed on, so nobody else is in what it was changing, and all of it is put
// back at once, by whoever comes first. The number of the call tells whether the journal is still
// about it.

#include "store/memory/memory.h"

static void put_back(memory_store *m, uint64_t token)
{
    const uint64_t number = token & 255;
    if (number == 0 || number > m->journal_count) {
        return;
    }
    weir_journal *journal = &m->journals[number - 1];
    if (pthread_mutex_lock(&m->head->recovery_lock) == EOWNERDEAD) {
        pthread_mutex_consistent(&m->head->recovery_lock); // to put back may be begun again
    }
    if (__atomic_load_n(&journal->call, __ATOMIC_RELAXED) == token >> 8) {
        weir_journal_undo(journal, m->head, m->size_bytes);
    }
    pthread_mutex_unlock(&m->head->recovery_lock);
}

static uint64_t keys_in(const memory_store *m, const weir_group *group)
{
    const weir_set *sets = m->table.sets + (size_t)(group - m->table.groups) * WEIR_GROUP_SETS;
    uint64_t keys = 0;
    for (unsigned s = 0; s < WEIR_GROUP_SETS; s++) {
        for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
            keys += sets[s].tags[i] != 0;
        }
    }
    return keys;
}

static void count_death(memory_store *m)
{
    __atomic_fetch_add(&m->head->deaths, 1, __ATOMIC_RELAXED);
}

void weir_recover_group(memory_store *m, weir_group *group)
{
    put_back(m, group->call);
    if (group->undo_at != 0 && group->undo_at <= WEIR_GROUP_SETS * WEIR_SET_CELLS) {
        const uint64_t at = group->undo_at - 1;
        weir_set *sets = m->table.sets + (size_t)(group - m->table.groups) * WEIR_GROUP_SETS;
        sets[at / WEIR_SET_CELLS].cells[at % WEIR_SET_CELLS] = group->undo;
        weir_in_order();
    }
    group->undo_at = 0;
    group->keys = keys_in(m, group) & UINT16_MAX;
    group->call = 0;
    count_death(m);
    pthread_mutex_consistent(&group->lock);
}

void weir_recover_side(memory_store *m)
{
    put_back(m, m->head->side_call);
    m->head->side_call = 0;
    count_death(m);
    pthread_mutex_consistent(&m->head->side_lock);
}

void weir_recover_journal(memory_store *m, weir_journal *journal)
{
    put_back(m, journal->call << 8 | (uint64_t)(journal - m->journals + 1));
    count_death(m);
    pthread_mutex_consistent(&journal->lock);
}
