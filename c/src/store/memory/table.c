// Where a new key goes, and who goes for it.

#include "store/memory/table.h"

// An empty cell of the set, the preferred one first; NULL when it is full.
static weir_cell *empty_cell(weir_set *set, unsigned preferred)
{
    for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
        const unsigned way = (preferred + i) % WEIR_SET_CELLS;
        if (set->tags[way] == 0) {
            return &set->cells[way];
        }
    }
    return NULL;
}

// Moves one cell of the set to its own other set, if one has room there. Returns the cell that is
// free now.
static weir_cell *make_room(weir_set *sets, weir_set *set)
{
    for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
        const uint64_t tag = set->tags[i];
        weir_set *other = &sets[weir_other_set(tag, (unsigned)(set - sets))];
        weir_cell *target = empty_cell(other, weir_first_way(tag));
        if (target != NULL) {
            *target = set->cells[i];
            other->tags[target - other->cells] = tag;
            set->tags[i] = 0;
            return &set->cells[i];
        }
    }
    return NULL;
}

static bool is_pinned(uint64_t tag, const uint64_t *pinned, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pinned[i] == tag) {
            return true;
        }
    }
    return false;
}

typedef struct victim {
    weir_cell *cell;
    bool expired;
    unsigned used;
    int64_t expires_us;
} victim;

// Whether the loss of a forgives less than that of b.
static bool forgives_less(const victim *a, const victim *b)
{
    if (a->expired != b->expired) {
        return a->expired;
    }
    if (a->used != b->used) {
        return a->used < b->used;
    }
    return a->expires_us < b->expires_us;
}

static void consider(victim *best, weir_set *set, int64_t now_us, const uint64_t *pinned,
                     size_t pinned_count)
{
    for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
        if (is_pinned(set->tags[i], pinned, pinned_count)) {
            continue;
        }
        weir_cell *cell = &set->cells[i];
        const int64_t expires_us = weir_cell_expires_us(cell);
        const victim v = {cell, expires_us <= now_us, weir_cell_used(cell, now_us), expires_us};
        if (best->cell == NULL || forgives_less(&v, best)) {
            *best = v;
        }
    }
}

weir_cell *weir_table_insert(const weir_table *table, const weir_place *place, int64_t now_us,
                             const uint64_t *pinned, size_t pinned_count, weir_table_forget *forget,
                             void *context)
{
    weir_set *other = weir_place_other(place);
    const unsigned way = weir_first_way(place->tag);
    weir_cell *cell = empty_cell(place->first, way);
    if (cell == NULL) {
        cell = empty_cell(other, way);
    }
    victim v = {0};
    if (cell == NULL) {
        consider(&v, place->first, now_us, pinned, pinned_count);
        consider(&v, other, now_us, pinned, pinned_count);
    }
    weir_set *sets = table->sets + (place->group - table->groups) * WEIR_GROUP_SETS;
    if (cell == NULL && !v.expired) {
        cell = make_room(sets, place->first);
        cell = cell != NULL ? cell : make_room(sets, other);
    }
    if (cell != NULL) {
        place->group->keys++;
    } else {
        cell = v.cell;
        if (cell == NULL) {
            return NULL;
        }
        forget(context, cell);
        place->group->evicted += !v.expired;
    }
    *weir_tag_of(place, cell) = place->tag;
    *cell = (weir_cell){.instant_us = WEIR_LONG_AGO};
    return cell;
}
