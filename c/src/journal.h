// What a call is about to overwrite in memory that processes share, noted down, so that who finds
// the call dead can put it back.
//
// An undo log (J. Gray, A. Reuter, Transaction Processing, 10.3): every word is noted before it is
// changed, and a call is done when its notes are dropped, which is one store. Until then whoever
// gets a lock of the dead writes the old words back, newest first; writing them twice is no harm,
// so that may be interrupted too. A process that is killed stops between two instructions, and what
// it wrote before is seen by others in order, since they get its locks through the kernel. So the
// compiler alone must be kept from reordering.

#ifndef WEIR_SRC_JOURNAL_H
#define WEIR_SRC_JOURNAL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_JOURNAL_NOTES  2048
#define WEIR_JOURNAL_SPARES 32

// A journal lies in the mapping that it is about. One call at a time writes it.
typedef struct weir_journal {
    pthread_mutex_t lock; // robust. Taken before any other
    uint64_t call;        // the number of the call that writes it, or wrote it last
    uint32_t at;          // where it lies in the mapping, in words
    uint32_t count;       // of notes. 0: there is nothing to put back
    uint64_t spare_bits;  // which of these blocks of side memory are to be freed after the call
    uint64_t spares[WEIR_JOURNAL_SPARES];
    uint32_t where[WEIR_JOURNAL_NOTES]; // in words from the start of the mapping
    uint64_t was[WEIR_JOURNAL_NOTES];
} weir_journal;

static inline void weir_in_order(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Notes the words in which the bytes lie.
void weir_journal_note(weir_journal *journal, const void *bytes, size_t size);

// Writes back what was noted. A journal that was damaged reaches nothing outside the mapping.
void weir_journal_undo(weir_journal *journal, void *mapping, size_t mapping_bytes);

// Before bytes of the mapping are changed. NULL, in memory of one process, notes nothing.
static inline void weir_keep(weir_journal *journal, const void *bytes, size_t size)
{
    if (journal != NULL) {
        weir_journal_note(journal, bytes, size);
    }
}

// All that was noted is done.
static inline void weir_journal_commit(weir_journal *journal)
{
    weir_in_order();
    journal->count = 0;
    weir_in_order();
}

#endif
