// Side memory: where logs, slots and leases live. A buddy allocator over one region, bounded, never
// growing.
//
// D. E. Knuth, The Art of Computer Programming 1, 2.5: blocks of 64 x 2^k bytes, freed in pairs.
// Everything is kept as offsets inside the region. Not safe for threads by itself. What is changed
// is noted in a journal, if there is one.

#ifndef WEIR_SRC_SIDE_H
#define WEIR_SRC_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal.h"

#define WEIR_SIDE_UNIT   64
#define WEIR_SIDE_ORDERS 32

// Names a block: where it is and how large. 0 is none.
typedef uint64_t weir_side_block;

typedef struct weir_side {
    unsigned char *units; // the blocks
    unsigned char
        *heads; // a byte a unit: for the first of a block, its order and whether it is free
    uint32_t count;
    uint32_t *free; // the first free block of each order, plus 1
} weir_side;

// The region as side memory, with its lists of free blocks. Keeps both.
weir_side weir_side_at(void *region, size_t region_bytes, uint32_t free[WEIR_SIDE_ORDERS]);

// Makes all of it free. The bytes of region and lists must be all nought.
void weir_side_init(weir_side *side);

// A block of at least so many bytes, all nought. 0 when there is none.
weir_side_block weir_side_alloc(weir_side *side, weir_journal *journal, size_t bytes);

void weir_side_free(weir_side *side, weir_journal *journal, weir_side_block block);

// Whether the block is one that was allotted and not freed.
bool weir_side_uses(const weir_side *side, weir_side_block block);

// Walks all blocks and the lists of the free ones. `used` is called for each block in use. False
// when they contradict each other.
bool weir_side_walk(const weir_side *side, void (*used)(void *context, weir_side_block block),
                    void *context, size_t *out_free_bytes);

static inline unsigned weir_side_order(weir_side_block block)
{
    return block & 63;
}

static inline size_t weir_side_bytes(weir_side_block block)
{
    return (size_t)WEIR_SIDE_UNIT << weir_side_order(block);
}

// Whether there is such a block. What names one in shared memory may have been damaged.
static inline bool weir_side_has(const weir_side *side, weir_side_block block)
{
    const uint64_t unit = (block >> 6) - 1;
    const unsigned order = weir_side_order(block);
    return unit < side->count && order < WEIR_SIDE_ORDERS &&
           (UINT64_C(1) << order) <= side->count - unit;
}

static inline void *weir_side_bytes_at(const weir_side *side, weir_side_block block)
{
    return side->units + ((block >> 6) - 1) * WEIR_SIDE_UNIT;
}

static inline unsigned weir_side_order_for(size_t bytes)
{
    unsigned order = 0;
    while (((size_t)WEIR_SIDE_UNIT << order) < bytes) {
        order++;
    }
    return order;
}

#endif
