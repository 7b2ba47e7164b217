// The leases of one key: a list in the order in which they lapse, and an index by id. Whatever is
// asked of it is one step, but for clocks that disagree.
//
// It lives in one block of side memory: this header, the leases packed at its start, then the
// index, which is a hash table with two places a lease, linear probing and no tombstones (Knuth,
// The Art of Computer Programming 3, 6.4, algorithm R).

#ifndef WEIR_SRC_LEASE_LIST_H
#define WEIR_SRC_LEASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal.h"

// Names a lease: its place plus 1; 0 is none.
typedef uint32_t lease_ref;

typedef struct lease {
    uint64_t id; // a keyed hash of the id
    int64_t lapses_us;
    lease_ref next; // the one that lapses after it
    lease_ref before;
} lease;

typedef struct lease_list {
    uint32_t count;
    uint32_t capacity;
    lease_ref first;
    lease_ref last;
    lease leases[];
} lease_list;

// How many bytes a list of so many leases needs.
size_t lease_list_bytes(size_t count);

// Lays the list out in a block of so many bytes: one that is all nought, or one to which a smaller
// block was copied.
void lease_list_fit(lease_list *list, size_t bytes);

// The lease of the id, or 0.
lease_ref lease_list_find(const lease_list *list, uint64_t id);

// What follows notes in the journal, if there is one, what it overwrites.

// Adds a lease; there must be room, and none of that id.
void lease_list_add(lease_list *list, weir_journal *journal, uint64_t id, int64_t lapses_us);

// Removes a lease. Another may take its place, so other names are void.
void lease_list_remove(lease_list *list, weir_journal *journal, lease_ref ref);

// Gives a lease another time to lapse.
void lease_list_move(lease_list *list, weir_journal *journal, lease_ref ref, int64_t lapses_us);

// Gives the lease and all that lapse after it one earlier time.
void lease_list_pull(lease_list *list, weir_journal *journal, lease_ref ref, int64_t lapses_us);

// Whether a block of so many bytes holds a list, whatever bytes it has.
bool lease_list_sound(const lease_list *list, size_t bytes);

static inline lease *lease_at(const lease_list *list, lease_ref ref)
{
    return (lease *)&list->leases[ref - 1];
}

#endif
