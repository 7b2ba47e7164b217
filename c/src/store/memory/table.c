// Where a new key goes, and who goes for it.

#include "store/memory/table.h"

// What stays the same while a place is looked for.
typedef struct insertion {
    const weir_place *place;
    int64_t now_us;
    const uint64_t *pinned;
    size_t pinned_count;
    weir_table_forget *forget;
    void *context;
    weir_journal *journal;
} insertion;

static void put(weir_journal *journal, uint64_t *tag, uint64_t new_tag, weir_cell *cell,
                weir_cell new_cell)
{
    weir_keep(journal, tag, sizeof *tag);
    weir_keep(journal, cell, sizeof *cell);
    *tag = new_tag;
    *cell = new_cell;
}

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

static void consider(victim *best, const insertion *in, weir_set *set)
{
    for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
        if (is_pinned(set->tags[i], in->pinned, in->pinned_count)) {
            continue;
        }
        weir_cell *cell = &set->cells[i];
        const int64_t expires_us = weir_cell_expires_us(cell);
        const victim v = {cell, expires_us <= in->now_us, weir_cell_used(cell, in->now_us),
                          expires_us};
        if (best->cell == NULL || forgives_less(&v, best)) {
            *best = v;
        }
    }
}

// A cell of the set that is empty or whose key has expired; the latter is forgotten. NULL when
// there is none.
static weir_cell *free_cell(const insertion *in, weir_set *set)
{
    weir_cell *cell = empty_cell(set, 0);
    victim v = {0};
    if (cell == NULL) {
        consider(&v, in, set);
    }
    if (!v.expired) {
        return cell;
    }
    in->forget(in->context, v.cell);
    in->place->group->keys--;
    return v.cell;
}

// Moves one cell of the set to its own other set, if that has room. Returns the cell that is free
// now.
static weir_cell *make_room(const insertion *in, weir_set *set)
{
    weir_set *sets = in->place->first - weir_first_set(in->place->tag);
    for (unsigned i = 0; i < WEIR_SET_CELLS; i++) {
        const uint64_t tag = set->tags[i];
        weir_set *other = &sets[weir_other_set(tag, (unsigned)(set - sets))];
        weir_cell *target = free_cell(in, other);
        if (target != NULL) {
            put(in->journal, &other->tags[target - other->cells], tag, target, set->cells[i]);
            weir_keep(in->journal, &set->tags[i], sizeof set->tags[i]);
            set->tags[i] = 0;
            return &set->cells[i];
        }
    }
    return NULL;
}

weir_cell *weir_table_insert(const weir_place *place, int64_t now_us, const uint64_t *pinned,
                             size_t pinned_count, weir_table_forget *forget, void *context,
                             weir_journal *journal)
{
    const insertion in = {place, now_us, pinned, pinned_count, forget, context, journal};
    weir_set *other = weir_place_other(place);
    weir_cell *cell = empty_cell(place->first, weir_first_way(place->tag));
    if (cell == NULL) {
        cell = empty_cell(other, weir_first_way(place->tag));
    }
    victim v = {0};
    if (cell == NULL) {
        consider(&v, &in, place->first);
        consider(&v, &in, other);
    }
    if (cell == NULL && !v.expired) {
        cell = make_room(&in, place->first);
        cell = cell != NULL ? cell : make_room(&in, other);
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
    put(journal, weir_tag_of(place, cell), place->tag, cell,
        (weir_cell){.instant_us = WEIR_LONG_AGO});
    return cell;
}

bool weir_table_publish(const weir_place *place, weir_cell value)
{
    const unsigned way = weir_first_way(place->tag);
    weir_cell *cell = empty_cell(place->first, way);
    if (cell == NULL) {
        cell = empty_cell(weir_place_other(place), way);
    }
    if (cell == NULL) {
        return false;
    }
    *cell = value;
    weir_in_order();
    *weir_tag_of(place, cell) = place->tag;
    place->group->keys++;
    return true;
}
