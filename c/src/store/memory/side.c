// The buddy allocator of side memory.

#include "store/memory/side.h"

#include <string.h>

#define HEAD_FREE 0x80
#define HEAD_USED 0x40

// What stands in a free block: its neighbours in the list of its order, plus 1; 0 is none.
typedef struct free_block {
    uint32_t next;
    uint32_t before;
} free_block;

static free_block *free_at(const weir_side *side, uint32_t unit)
{
    return (free_block *)(side->units + (size_t)unit * WEIR_SIDE_UNIT);
}

static void push(weir_side *side, uint32_t unit, unsigned order)
{
    const uint32_t next = side->free[order];
    *free_at(side, unit) = (free_block){next, 0};
    if (next != 0) {
        free_at(side, next - 1)->before = unit + 1;
    }
    side->free[order] = unit + 1;
    side->heads[unit] = (unsigned char)(HEAD_FREE | order);
}

static void unlink_block(weir_side *side, uint32_t unit, unsigned order)
{
    const free_block block = *free_at(side, unit);
    if (block.before != 0) {
        free_at(side, block.before - 1)->next = block.next;
    } else {
        side->free[order] = block.next;
    }
    if (block.next != 0) {
        free_at(side, block.next - 1)->before = block.before;
    }
    side->heads[unit] = 0;
}

void weir_side_init(weir_side *side, void *region, size_t region_bytes)
{
    const size_t units = region_bytes / (WEIR_SIDE_UNIT + 1);
    *side = (weir_side){.units = region,
                        .count = units < UINT32_MAX / 2 ? (uint32_t)units : UINT32_MAX / 2};
    side->heads = side->units + (size_t)side->count * WEIR_SIDE_UNIT;
    uint32_t unit = 0;
    while (unit < side->count) { // the largest block that is aligned here and fits
        unsigned order = unit == 0 ? WEIR_SIDE_ORDERS - 1 : (unsigned)__builtin_ctz(unit);
        while ((UINT32_C(1) << order) > side->count - unit) {
            order--;
        }
        push(side, unit, order);
        unit += UINT32_C(1) << order;
    }
}

weir_side_block weir_side_alloc(weir_side *side, size_t bytes)
{
    if (bytes > (size_t)side->count * WEIR_SIDE_UNIT) {
        return 0;
    }
    const unsigned wanted = weir_side_order_for(bytes);
    unsigned order = wanted;
    while (order < WEIR_SIDE_ORDERS && side->free[order] == 0) {
        order++;
    }
    if (order >= WEIR_SIDE_ORDERS) {
        return 0;
    }
    const uint32_t unit = side->free[order] - 1;
    unlink_block(side, unit, order);
    while (order > wanted) {
        order--;
        push(side, unit + (UINT32_C(1) << order), order);
    }
    side->heads[unit] = (unsigned char)(HEAD_USED | wanted);
    const weir_side_block block = (weir_side_block)(unit + 1) << 6 | wanted;
    memset(weir_side_at(side, block), 0, weir_side_bytes(block));
    return block;
}

void weir_side_free(weir_side *side, weir_side_block block)
{
    uint32_t unit = (uint32_t)(block >> 6) - 1;
    unsigned order = weir_side_order(block);
    side->heads[unit] = 0;
    while (order + 1 < WEIR_SIDE_ORDERS) {
        const uint32_t buddy = unit ^ (UINT32_C(1) << order);
        if (buddy >= side->count || side->heads[buddy] != (HEAD_FREE | order)) {
            break;
        }
        unlink_block(side, buddy, order);
        unit &= ~(UINT32_C(1) << order);
        order++;
    }
    push(side, unit, order);
}
