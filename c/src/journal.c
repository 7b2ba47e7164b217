// Noting words down and putting them back.

#include "journal.h"

#include <assert.h>

void weir_journal_note(weir_journal *journal, const void *bytes, size_t size)
{
    uint64_t *mapping = (uint64_t *)journal - journal->at;
    uint32_t word = (uint32_t)(((uintptr_t)bytes - (uintptr_t)mapping) / sizeof *mapping);
    const uint32_t end =
        (uint32_t)(((uintptr_t)bytes + size - (uintptr_t)mapping + sizeof *mapping - 1) /
                   sizeof *mapping);
    for (; word < end; word++) {
        const uint32_t count = journal->count;
        assert(count < WEIR_JOURNAL_NOTES);
        journal->where[count] = word;
        journal->was[count] = mapping[word];
        weir_in_order();
        journal->count = count + 1;
        weir_in_order();
    }
}

void weir_journal_undo(weir_journal *journal, void *mapping, size_t mapping_bytes)
{
    uint64_t *words = mapping;
    if (journal->count > WEIR_JOURNAL_NOTES) {
        journal->count = 0;
    }
    while (journal->count > 0) {
        const uint32_t last = journal->count - 1;
        if (journal->where[last] < mapping_bytes / sizeof *words) {
            words[journal->where[last]] = journal->was[last];
        }
        weir_in_order();
        journal->count = last;
        weir_in_order();
    }
}
