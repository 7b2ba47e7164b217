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

static void set_head(weir_side *side, weir_journal *journal, uint32_t unit, unsigned head)
{
    weir_keep(journal, &side->heads[unit], 1);
    side->heads[unit] = (unsigned char)head;
}

static void set_first(weir_side *side, weir_journal *journal, unsigned order, uint32_t first)
{
    weir_keep(journal, &side->free[order], sizeof side->free[order]);
    side->free[order] = first;
}

static void set_links(weir_side *side, weir_journal *journal, uint32_t unit, free_block links)
{
    weir_keep(journal, free_at(side, unit), sizeof links);
    *free_at(side, unit) = links;
}

static void push(weir_side *side, weir_journal *journal, uint32_t unit, unsigned order)
{
    const uint32_t next = side->free[order];
    set_links(side, journal, unit, (free_block){next, 0});
    if (next != 0) {
        set_links(side, journal, next - 1, (free_block){free_at(side, next - 1)->next, unit + 1});
    }
    set_first(side, journal, order, unit + 1);
    set_head(side, journal, unit, HEAD_FREE | order);
}

static void unlink_block(weir_side *side, weir_journal *journal, uint32_t unit, unsigned order)
{
    const free_block block = *free_at(side, unit);
    if (block.before != 0) {
        const uint32_t before = block.before - 1;
        set_links(side, journal, before, (free_block){block.next, free_at(side, before)->before});
    } else {
        set_first(side, journal, order, block.next);
    }
    if (block.next != 0) {
        const uint32_t next = block.next - 1;
        set_links(side, journal, next, (free_block){free_at(side, next)->next, block.before});
    }
    set_head(side, journal, unit, 0);
}

weir_side weir_side_at(void *region, size_t region_bytes, uint32_t free[WEIR_SIDE_ORDERS])
{
    const size_t units = region_bytes / (WEIR_SIDE_UNIT + 1);
    weir_side side = {.units = region,
                      .count = units < UINT32_MAX / 2 ? (uint32_t)units : UINT32_MAX / 2,
                      .free = free};
    side.heads = side.units + (size_t)side.count * WEIR_SIDE_UNIT;
    return side;
}

void weir_side_init(weir_side *side)
{
    uint32_t unit = 0;
    while (unit < side->count) { // the largest block that is aligned here and fits
        unsigned order = unit == 0 ? WEIR_SIDE_ORDERS - 1 : (unsigned)__builtin_ctz(unit);
        while ((UINT32_C(1) << order) > side->count - unit) {
            order--;
        }
        push(side, NULL, unit, order);
        unit += UINT32_C(1) << order;
    }
}

weir_side_block weir_side_alloc(weir_side *side, weir_journal *journal, size_t bytes)
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
    unlink_block(side, journal, unit, order);
    while (order > wanted) {
        order--;
        push(side, journal, unit + (UINT32_C(1) << order), order);
    }
    set_head(side, journal, unit, HEAD_USED | wanted);
    const weir_side_block block = (weir_side_block)(unit + 1) << 6 | wanted;
    weir_keep(journal, free_at(side, unit), sizeof(free_block)); // the rest of it nobody reads
    memset(weir_side_bytes_at(side, block), 0, weir_side_bytes(block));
    return block;
}

void weir_side_free(weir_side *side, weir_journal *journal, weir_side_block block)
{
    uint32_t unit = (uint32_t)(block >> 6) - 1;
    unsigned order = weir_side_order(block);
    set_head(side, journal, unit, 0);
    while (order + 1 < WEIR_SIDE_ORDERS) {
        const uint32_t buddy = unit ^ (UINT32_C(1) << order);
        if (buddy >= side->count || side->heads[buddy] != (HEAD_FREE | order)) {
            break;
        }
        unlink_block(side, journal, buddy, order);
        unit &= ~(UINT32_C(1) << order);
        order++;
    }
    push(side, journal, unit, order);
}

bool weir_side_uses(const weir_side *side, weir_side_block block)
{
    return weir_side_has(side, block) &&
           side->heads[(block >> 6) - 1] == (HEAD_USED | weir_side_order(block));
}

// Whether the list of an order holds blocks that are free and of that order, linked both ways.
static bool list_is_sound(const weir_side *side, unsigned order, size_t *out_units)
{
    uint32_t before = 0;
    size_t count = 0;
    for (uint32_t ref = side->free[order]; ref != 0; ref = free_at(side, ref - 1)->next) {
        if (ref > side->count || side->heads[ref - 1] != (HEAD_FREE | order) ||
            free_at(side, ref - 1)->before != before || ++count > side->count) {
            return false;
        }
        before = ref;
    }
    *out_units += count << order;
    return true;
}

bool weir_side_walk(const weir_side *side, void (*used)(void *context, weir_side_block block),
                    void *context, size_t *out_free_bytes)
{
    size_t listed = 0, free_units = 0;
    for (unsigned order = 0; order < WEIR_SIDE_ORDERS; order++) {
        if (!list_is_sound(side, order, &listed)) {
            return false;
        }
    }
    uint32_t unit = 0;
    while (unit < side->count) { // each block ends where the next begins
        const unsigned head = side->heads[unit], order = head & 31;
        const uint32_t units = UINT32_C(1) << order;
        if ((head != (HEAD_FREE | order) && head != (HEAD_USED | order)) ||
            units > side->count - unit) {
            return false;
        }
        if (head & HEAD_FREE) {
            free_units += units;
        } else {
            used(context, (weir_side_block)(unit + 1) << 6 | order);
        }
        for (uint32_t inside = unit + 1; inside < unit + units; inside++) {
            if (side->heads[inside] != 0) {
                return false;
            }
        }
        unit += units;
    }
    *out_free_bytes = free_units * WEIR_SIDE_UNIT;
    return free_units == listed;
}
