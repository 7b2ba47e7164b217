// Limits kept in this process: a table of fixed size that forgets what forgives least.

#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

#include "weir/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_memory_options {
    size_t size_bytes; // 0: 16 MiB; at least 64 KiB. Never exceeded, and all taken at open.
    size_t side_bytes; // of which for logs, slots and leases. 0: a quarter. At most size_bytes less
                       // 32 KiB.
    bool no_side;      // no logs, no sliding_counter with slots, no concurrency: all of it is table
    const weir_clock *clock; // NULL: Unix time. Kept until close.
    uint64_t reserved[4];
} weir_memory_options;

// What a store has done since it was opened.
typedef struct weir_counters {
    uint64_t
        keys; // cells in use, those whose state has expired and was not yet replaced among them
    uint64_t evicted;    // live keys forgotten for want of room. Not nought: give it more memory
    uint64_t allowed;    // checks that passed (takes and acquires)
    uint64_t refused;    // checks that were refused
    uint64_t size_bytes; // what the store occupies
    uint64_t reserved[3];
} weir_counters;

// Opens an empty store. Key text is not kept: a key is named by a keyed 64-bit hash of limit name,
// algorithm and key, so that nobody can craft two keys that meet. WEIR_NO_MEMORY, or WEIR_INVALID
// with a sentence.
WEIR_API weir_status weir_memory_open(weir_store **out, const weir_memory_options *options,
                                      weir_error *error);

// WEIR_INVALID when the store is not one kept in memory.
WEIR_API weir_status weir_memory_counters(weir_store *store, weir_counters *out);

#ifdef __cplusplus
}
#endif

#endif
