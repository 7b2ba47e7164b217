// After a death: who gets a lock that its holder took to the grave puts back what that had begun.
//
// The kernel hands such a lock on with EOWNERDEAD (robust mutexes). All locks of the dead are held
// by it until they are handed on, so nobody else is in what it was changing, and all of it is put
// back at once, by whoever comes first. The number of the call tells whether the journal is still
// about it.

#include "store/memory/memory.h"

static void count_damage(memory_store *m)
{
    __atomic_fetch_add(&m->head->damages, 1, __ATOMIC_RELAXED);
}

static weir_words words_of(const memory_store *m, const void *bytes, size_t size)
{
    const uint64_t first = (uint64_t)((const char *)bytes - (const char *)m->head);
    return (weir_words){first / sizeof(uint64_t),
                        (first + size + sizeof(uint64_t) - 1) / sizeof(uint64_t)};
}

static void undo(memory_store *m, weir_journal *journal)
{
    const char *sets = (const char *)m->table.sets;
    const weir_words noted[] = {
        words_of(m, sets, (size_t)((const char *)m->head + m->size_bytes - sets)),
        words_of(m, m->head->side_free, sizeof m->head->side_free),
        words_of(m, &journal->spare_bits, sizeof journal->spare_bits),
        words_of(m, journal->spares, sizeof journal->spares),
    };
    if (!weir_journal_undo(journal, m->head, noted, sizeof noted / sizeof noted[0])) {
        count_damage(m);
    }
}

static void put_back(memory_store *m, uint64_t token)
{
    const uint64_t number = token & 255;
    if (number == 0 || number > m->journal_count) {
        if (token != 0) {
            count_damage(m);
        }
        return;
    }
    weir_journal *journal = &m->journals[number - 1];
    if (pthread_mutex_lock(&m->head->recovery_lock) == EOWNERDEAD) {
        pthread_mutex_consistent(&m->head->recovery_lock); // to put back may be begun again
    }
    if (__atomic_load_n(&journal->call, __ATOMIC_RELAXED) == token >> 8) {
        undo(m, journal);
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
    if (group->undo_at > WEIR_GROUP_SETS * WEIR_SET_CELLS) {
        count_damage(m);
    } else if (group->undo_at != 0) {
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

void weir_recover_rest(memory_store *m, weir_journal *journal)
{
    bool sound = journal->count == 0 && journal->spare_bits >> WEIR_JOURNAL_SPARES == 0;
    uint64_t kept = 0;
    for (int i = 0; i < WEIR_JOURNAL_SPARES; i++) {
        const uint64_t bit = journal->spare_bits & UINT64_C(1) << i;
        if (bit != 0 && weir_side_uses(&m->side, journal->spares[i])) {
            kept |= bit;
        } else {
            sound &= bit == 0;
        }
    }
    if (!sound) {
        journal->count = 0;
        journal->spare_bits = kept;
        count_damage(m);
    }
}
