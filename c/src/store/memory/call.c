// One call on a store: its locks, its journal, its commit.
//
// A call locks its journal, then groups in the order of their addresses, then side memory; another
// group only when that can be had at once, and never while it holds side memory. It keeps each lock
// until all that it noted is done, so what it has changed is seen by nobody before, and can be put
// back by whoever finds it dead.

#include "store/memory/memory.h"

static weir_journal *lock_journal(memory_store *m)
{
    const uint32_t count = m->journal_count;
    const uint32_t first = __atomic_fetch_add(&m->next_journal, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i <= count; i++) {
        weir_journal *journal = &m->journals[(first + i) % count];
        const int status =
            i < count ? pthread_mutex_trylock(&journal->lock) : pthread_mutex_lock(&journal->lock);
        if (status == EOWNERDEAD) {
            weir_recover_journal(m, journal);
        }
        if (status == 0 || status == EOWNERDEAD) {
            return journal;
        }
    }
    return NULL;
}

// Frees blocks that were put aside, by this call or by one that died.
static void free_spares(weir_call *call)
{
    weir_journal *journal = call->journal;
    while (journal->spare_bits != 0) {
        const int i = __builtin_ctzll(journal->spare_bits);
        weir_call_free(call, journal->spares[i]);
        weir_keep(journal, &journal->spare_bits, sizeof journal->spare_bits);
        journal->spare_bits &= journal->spare_bits - 1;
        weir_call_commit(call);
    }
}

void weir_call_begin(weir_call *call, memory_store *m)
{
    *call = (weir_call){.m = m};
    if (m->journals == NULL) {
        return;
    }
    weir_journal *journal = lock_journal(m);
    // Others read the number when they find one of the dead: it must not seem to be theirs.
    __atomic_store_n(&journal->call, journal->call + 1, __ATOMIC_RELAXED);
    call->journal = journal;
    call->token = journal->call << 8 | (uint64_t)(journal - m->journals + 1);
    if (journal->spare_bits != 0) {
        free_spares(call);
    }
}

void weir_call_end(weir_call *call)
{
    if (call->journal == NULL) {
        return;
    }
    if (call->journal->spare_bits != 0) {
        free_spares(call);
    }
    pthread_mutex_unlock(&call->journal->lock);
}

void weir_call_lock(weir_call *call, weir_group *group)
{
    weir_group_lock(call->m, group);
    group->call = call->token;
    weir_in_order();
}

bool weir_call_try_lock(weir_call *call, weir_group *group)
{
    const int status = pthread_mutex_trylock(&group->lock);
    if (status == EOWNERDEAD) {
        weir_recover_group(call->m, group);
    } else if (status != 0) {
        return false;
    }
    group->call = call->token;
    weir_in_order();
    return true;
}

void weir_call_unlock(weir_call *call, weir_group *group)
{
    (void)call;
    weir_in_order();
    group->call = 0;
    weir_in_order();
    weir_group_unlock(group);
}

static void lock_side(weir_call *call)
{
    weir_memory_head *head = call->m->head;
    if (call->holds_side) {
        return;
    }
    if (pthread_mutex_lock(&head->side_lock) == EOWNERDEAD) {
        weir_recover_side(call->m);
    }
    head->side_call = call->token;
    weir_in_order();
    call->holds_side = true;
    head->side_changes++;
}

weir_side_block weir_call_alloc(weir_call *call, size_t bytes)
{
    lock_side(call);
    return weir_side_alloc(&call->m->side, call->journal, bytes);
}

void weir_call_free(weir_call *call, weir_side_block block)
{
    lock_side(call);
    weir_side_free(&call->m->side, call->journal, block);
}

void weir_call_commit(weir_call *call)
{
    if (call->journal != NULL) {
        weir_journal_commit(call->journal);
    }
    if (!call->holds_side) {
        return;
    }
    call->m->head->side_call = 0;
    weir_in_order();
    pthread_mutex_unlock(&call->m->head->side_lock);
    call->holds_side = false;
}
