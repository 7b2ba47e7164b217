// Limits kept in memory that processes share: the table of memory.h in one mapping.
//
// A process may be killed at any instruction: who meets a lock that it held learns of its death
// from the kernel and puts back what it had begun. A take that was killed counted or did not, a
// take_all counted in all its keys or in none, and nobody waits for the dead.

#ifndef WEIR_SHARED_H
#define WEIR_SHARED_H

#include "weir/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

// What to do about a mapping of that name that is of another version, size or seed.
typedef enum weir_misfit {
    WEIR_MISFIT_REFUSE,  // WEIR_MISMATCH, with what differs
    WEIR_MISFIT_REBUILD, // begin a new, empty one under the name. Who has the old one open keeps it
} weir_misfit;

typedef struct weir_shared_options {
    const char *name; // in POSIX shared memory, "/api" or "api": it outlives the processes, not the
                      // machine
    const char *path; // or a file, which may outlive both. Neither: no name, for the processes that
                      // are forked after this
    size_t size_bytes; // 0: what the mapping has; 16 MiB for a new one. All taken at open
    size_t side_bytes; // of which for logs, slots and leases. 0: what the mapping has; a quarter
    bool no_side;      // no logs, no sliding_counter with slots, no concurrency: all of it is table
    bool existing;     // only one that is there already: WEIR_IO when there is none
    weir_misfit misfit;
    uint32_t mode;    // of a new mapping. 0: 0600. Whoever may write it is trusted
    int64_t owner;    // uid of a new mapping. 0: who opens it, so a root that gives none keeps it
    int64_t group;    // gid of a new mapping. 0: the opener's
    uint64_t seed[2]; // of the hash of keys. Noughts: the mapping's; random for a new one
    const weir_clock *clock; // NULL: Unix time. Kept until close
    uint64_t reserved[4];
} weir_shared_options;

// Opens the mapping of that name, or makes it, empty. One process at a time makes it; the others
// wait for that. WEIR_INVALID; WEIR_MISMATCH; WEIR_NO_MEMORY when the file system has no room for
// it, now rather than by a signal later; WEIR_NOT_PERMITTED when it belongs to another user;
// WEIR_IO.
WEIR_API weir_status weir_shared_open(weir_store **out, const weir_shared_options *options,
                                      weir_error *error);

// Removes the name, or the file; who has it open keeps it. No such name is fine. WEIR_IO.
WEIR_API weir_status weir_shared_remove(const char *name, const char *path, weir_error *error);

// What was found in a table, and what was mended in it since it was made.
typedef struct weir_shared_report {
    uint64_t keys;       // cells in use
    uint64_t blocks;     // blocks of side memory that they use
    uint64_t side_bytes; // of which side memory consists
    uint64_t free_bytes; // of which are free
    uint64_t deaths;     // holders of a lock that died and whose work was put back
    bool settled; // false: side memory changed all the while, so its blocks were not accounted for
    uint64_t reserved[4];
} weir_shared_report;

// Reads the whole table and checks that it is sound: that every cell stands where it is looked for,
// once, that every state is one that its algorithm writes, that every block belongs to one key or
// is free. Others go on meanwhile. WEIR_STATE with the first fault; WEIR_INVALID when the store is
// not a shared one.
WEIR_API weir_status weir_shared_check(weir_store *store, weir_shared_report *out,
                                       weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
