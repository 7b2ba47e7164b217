// The table of a memory store: groups of sets of cells, of fixed size.
//
// A keyed hash names a key. It picks a group, which one lock guards, and in it two sets of eight
// cells where the key may live: its first, or another one when that is full. A cell that stands in
// the way moves to its own other set, so a table is nearly full before anything is lost. A set is
// four cache lines, the names of its eight cells in the first.

#ifndef WEIR_SRC_TABLE_H
#define WEIR_SRC_TABLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "journal.h"
#include "store/memory/cell.h"

#define WEIR_SET_CELLS  8
#define WEIR_GROUP_SETS 64

typedef struct weir_set {
    uint64_t tags[WEIR_SET_CELLS]; // the hash of the key; 0 is an empty cell
    weir_cell cells[WEIR_SET_CELLS];
} weir_set;

// What one lock guards, on a cache line of its own; and on another what only processes that share a
// table need.
typedef struct weir_group {
    pthread_mutex_t lock;
    uint64_t allowed;
    uint64_t refused;
    uint64_t evicted : 48;
    uint64_t keys : 16;
    uint64_t call;    // the journal that the holder of the lock writes; 0 for none
    uint64_t undo_at; // the cell that a take is writing, counted from 1; 0 for none
    weir_cell undo;   // what stood there
} __attribute__((aligned(64))) weir_group;

typedef struct weir_table {
    weir_set *sets;
    weir_group *groups;
    uint32_t group_count;
} weir_table;

// Where a key is, or could be.
typedef struct weir_place {
    weir_group *group;
    weir_set *first;
    uint64_t tag;
} weir_place;

static inline unsigned weir_first_set(uint64_t tag)
{
    return tag % WEIR_GROUP_SETS;
}

// Never the same as the set given, and its own inverse.
static inline unsigned weir_other_set(uint64_t tag, unsigned set)
{
    return set ^ (1 + (tag >> 6) % (WEIR_GROUP_SETS - 1));
}

// The cell of a set that is tried first.
static inline unsigned weir_first_way(uint64_t tag)
{
    return (tag >> 12) % WEIR_SET_CELLS;
}

static inline weir_place weir_table_place(const weir_table *table, uint64_t tag)
{
    const uint64_t group = ((tag >> 32) * table->group_count) >> 32;
    weir_set *first = table->sets + group * WEIR_GROUP_SETS + weir_first_set(tag);
    return (weir_place){&table->groups[group], first, tag};
}

// The other set in which the key may live.
static inline weir_set *weir_place_other(const weir_place *place)
{
    const unsigned first = weir_first_set(place->tag);
    return place->first - first + weir_other_set(place->tag, first);
}

// Starts to fetch what a look-up will read, so that the clock and the lock are read meanwhile.
static inline void weir_table_prefetch(const weir_place *place)
{
    __builtin_prefetch(place->first->tags, 1);
    __builtin_prefetch(&place->first->cells[weir_first_way(place->tag)], 1);
    __builtin_prefetch(place->group, 1);
}

static inline weir_cell *weir_set_find(weir_set *set, uint64_t tag)
{
    for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
        if (set->tags[i] == tag) {
            return &set->cells[i];
        }
    }
    return NULL;
}

// The key's cell, or NULL. The group must be locked.
static inline weir_cell *weir_table_find(const weir_place *place)
{
    if (place->first->tags[weir_first_way(place->tag)] == place->tag) {
        return &place->first->cells[weir_first_way(place->tag)];
    }
    weir_cell *cell = weir_set_find(place->first, place->tag);
    return cell != NULL ? cell : weir_set_find(weir_place_other(place), place->tag);
}

static inline uint64_t *weir_tag_of(const weir_place *place, const weir_cell *cell)
{
    weir_set *set = cell >= place->first->cells && cell < place->first->cells + WEIR_SET_CELLS
                        ? place->first
                        : weir_place_other(place);
    return &set->tags[cell - set->cells];
}

// Called for a cell that is forgotten, before it is.
typedef void weir_table_forget(void *context, const weir_cell *cell);

// A cell for a key that has none. In a full table the key whose loss forgives least goes: an
// expired one, else the one that has used the smallest share of its limit, else the earliest to
// expire; `pinned` tags stay. NULL when all are pinned. What is changed is noted in the journal, if
// there is one, but for counters.
weir_cell *weir_table_insert(const weir_place *place, int64_t now_us, const uint64_t *pinned,
                             size_t pinned_count, weir_table_forget *forget, void *context,
                             weir_journal *journal);

// Puts the cell of a key that has none into an empty place, if there is one. The key is there when
// its tag is, which is one store: a death before it leaves nothing behind.
bool weir_table_publish(const weir_place *place, weir_cell cell);

#endif
