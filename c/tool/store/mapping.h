// mapping.h: a shared mapping by its name, its path or its URL.

#ifndef WEIR_TOOL_STORE_MAPPING_H
#define WEIR_TOOL_STORE_MAPPING_H

#include <stdbool.h>

#include <weir/store.h>

// Where a mapping is: one of the two is given. They point into the word.
typedef struct mapping {
    const char *name; // in POSIX shared memory
    const char *path;
} mapping;

// What the word of a command line names: shm:NAME and file:PATH say it, a slash beyond a first one
// or a file that is there make it a path, and all else is a name.
mapping mapping_of_word(const char *word);

// Whether the URL is shm:NAME or file:PATH, and then the mapping that it names.
bool mapping_of_url(const char *url, mapping *out);

// Opens one that is there, and never makes one. WEIR_IO when there is none; as weir_shared_open.
weir_status mapping_open(const mapping *m, weir_store **out, weir_error *error);

// Whether a store that was opened by its URL is such a mapping.
bool mapping_is(weir_store *store);

// Removes it. False when there is none. WEIR_INVALID, and it stays, when what is there was not
// written by weir.
weir_status mapping_remove(const mapping *m, bool *out_found, weir_error *error);

#endif
