// sequence.h: one line of a vector file: limits, events, and the right answers.

#ifndef WEIR_TOOL_SEQUENCE_H
#define WEIR_TOOL_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/store.h>

typedef struct sequence_result {
    size_t rows;         // compared; a joint answer's own two numbers belong to its rows
    size_t wrong;        // of which differed
    size_t first_event;  // of the first wrong row, counted from 0
    size_t first_check;  // in a joint answer, which check's row
    char event[2048];    // the first wrong row's event, as JSON
    char expected[2048]; // its answer, as it should be
    char got[2048];      // and as it was; or the sentence of an error
} sequence_result;

// Runs one line of a vector file on the store, whose key must be fresh. WEIR_INVALID when the line
// is no sequence, with a sentence; an error of the store is a wrong row, but that of a server which
// gives no answers is returned.
weir_status sequence_run(const char *line, size_t size, weir_store *store, const char *key,
                         sequence_result *out, weir_error *error);

#endif
