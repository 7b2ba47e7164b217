// The verbs of a memory store for one key, and the layout of its mapping.

#include "store/memory/memory.h"

#include <string.h>
#include <time.h>

#include "error.h"

#define LEAST_TABLE_BYTES ((size_t)32 << 10)
#define GROUP_BYTES       (sizeof(weir_group) + WEIR_GROUP_SETS * sizeof(weir_set))
#define JOURNALS_MAX      16
#define BYTES_A_JOURNAL   ((size_t)2 << 20)

_Static_assert(sizeof(weir_cell) == 24, "a key takes 32 bytes with its name");
_Static_assert(sizeof(weir_set) == 256, "a set is four cache lines");
_Static_assert(offsetof(weir_group, call) == 64, "a lock and its counters share a cache line");

int64_t weir_memory_clock(const memory_store *m)
{
    if (m->clock != NULL) {
        return m->clock->now_us(m->clock->context);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * WEIR_SECOND + now.tv_nsec / 1000;
}

// Writes a cell that others share so that a death in the middle can be mended.
static inline void write_shared(memory_store *m, weir_group *group, weir_cell *cell,
                                weir_cell value)
{
    const weir_set *sets = m->table.sets + (size_t)(group - m->table.groups) * WEIR_GROUP_SETS;
    const size_t bytes = (size_t)((char *)cell - (char *)sets);
    const size_t set = bytes / sizeof(weir_set);
    group->undo = *cell;
    weir_in_order();
    group->undo_at = set * WEIR_SET_CELLS + (uint64_t)(cell - sets[set].cells) + 1;
    weir_in_order();
    *cell = value;
    weir_in_order();
    group->undo_at = 0;
    weir_in_order();
}

static void insert(memory_store *m, const weir_place *place, int64_t now_us, weir_cell value)
{
    weir_call call;
    weir_call_begin(&call, m);
    *weir_table_insert(place, now_us, NULL, 0, weir_memory_forget, &call, NULL) = value;
    weir_call_commit(&call);
}

// The short way, for limits whose whole state is in the cell: one look-up, one step, one write.
static inline __attribute__((always_inline)) weir_status
take_at(memory_store *m, const weir_check *check, const weir_place *place, int64_t now_us,
        weir_decision *out, weir_error *error)
{
    const weir_limit *limit = check->limit;
    const bool shared = m->journals != NULL;
    weir_group_lock(m, place->group);
    weir_cell *cell = weir_table_find(place);
    weir_state state = {.instant_us = WEIR_LONG_AGO};
    if (cell != NULL) {
        if (cell->kind == WEIR_KIND_SLOTS) { // a counter that had slots before, and has none now
            weir_group_unlock(place->group);
            return weir_memory_take_all(&m->store, check, 1, now_us, out, NULL, error);
        }
        state.instant_us = cell->instant_us;
        state.first = cell->first;
        state.second = cell->second;
    }
    out->status = WEIR_OK;
    out->source = WEIR_SOURCE_STORE;
    out->binding = 0;
    const weir_effect effect =
        weir_memory_step(limit, &state, now_us, WEIR_VERB_TAKE, check->cost, out);
    if (effect != WEIR_UNCHANGED) {
        const weir_cell value =
            weir_cell_pack(limit, &state, (uint64_t)state.second, weir_used_of(limit, out));
        if (cell != NULL && shared) {
            write_shared(m, place->group, cell, value);
        } else if (cell != NULL) {
            *cell = value;
        } else if (!shared) {
            insert(m, place, now_us, value);
        } else if (!weir_table_publish(place, value)) { // somebody must go: the long way
            weir_group_unlock(place->group);
            return weir_memory_take_all(&m->store, check, 1, now_us, out, NULL, error);
        }
    }
    place->group->allowed += out->allowed;
    place->group->refused += !out->allowed;
    weir_group_unlock(place->group);
    return WEIR_OK;
}

static inline bool goes_the_short_way(const weir_check *check)
{
    return !weir_algorithm_has_side(check->limit) && check->limit->most > 0;
}

weir_status weir_memory_take(weir_store *store, const weir_check *check, int64_t now_us,
                             weir_decision *out, weir_error *error)
{
    memory_store *m = (memory_store *)store;
    if (!goes_the_short_way(check)) {
        return weir_memory_take_all(store, check, 1, now_us, out, NULL, error);
    }
    const weir_place place = weir_table_place(&m->table, weir_memory_tag(m, check));
    weir_table_prefetch(&place);
    return take_at(m, check, &place, weir_memory_now(m, now_us), out, error);
}

// How many look-ups are under way at once: enough to hide one cache miss behind the others.
#define BATCH 16

// Takes up to a batch of valid checks: all cells are asked for before the first is read.
static weir_status take_batch(memory_store *m, const weir_check *checks, size_t count,
                              int64_t now_us, weir_decision *rows, weir_error *error)
{
    weir_place places[BATCH];
    for (size_t i = 0; i < count; i++) {
        places[i] = weir_table_place(&m->table, weir_memory_tag(m, &checks[i]));
        weir_table_prefetch(&places[i]);
    }
    weir_status first = WEIR_OK;
    for (size_t i = 0; i < count; i++) {
        weir_error *told = first == WEIR_OK ? error : NULL;
        const weir_status status =
            goes_the_short_way(&checks[i])
                ? take_at(m, &checks[i], &places[i], now_us, &rows[i], told)
                : weir_memory_take_all(&m->store, &checks[i], 1, now_us, &rows[i], NULL, told);
        if (status != WEIR_OK) {
            rows[i] = (weir_decision){.status = status};
            first = first != WEIR_OK ? first : status;
        }
    }
    return first;
}

weir_status weir_memory_take_many(weir_store *store, const weir_check *checks, size_t count,
                                  int64_t now_us, weir_decision *rows, weir_error *error)
{
    memory_store *m = (memory_store *)store;
    now_us = weir_memory_now(m, now_us);
    weir_status first = WEIR_OK;
    size_t at = 0;
    while (at < count) {
        weir_error *told = first == WEIR_OK ? error : NULL;
        size_t valid = 0;
        weir_status status = WEIR_OK;
        while (valid < BATCH && at + valid < count && status == WEIR_OK) {
            status = weir_check_validate(&checks[at + valid], WEIR_VERB_TAKE, told);
            valid += status == WEIR_OK;
        }
        const weir_status taken =
            take_batch(m, checks + at, valid, now_us, rows + at, status == WEIR_OK ? told : NULL);
        at += valid;
        first = first != WEIR_OK ? first : taken;
        if (status != WEIR_OK) {
            rows[at++] = (weir_decision){.status = status};
            first = first != WEIR_OK ? first : status;
        }
    }
    return first;
}

weir_status weir_memory_verb(weir_store *store, weir_verb verb, const weir_check *check,
                             int64_t now_us, weir_decision *out, weir_error *error)
{
    memory_store *m = (memory_store *)store;
    const weir_limit *limit = check->limit;
    out->status = WEIR_OK;
    out->source = WEIR_SOURCE_STORE;
    out->binding = 0;
    if (limit->most == 0) {
        weir_decision_of_nothing(out, verb, check);
        return WEIR_OK;
    }
    weir_entry entry = {.limit = limit,
                        .place = weir_table_place(&m->table, weir_memory_tag(m, check))};
    const int64_t cost = weir_memory_cost(m, check);
    now_us = weir_memory_now(m, now_us);

    weir_call call;
    weir_status status = WEIR_OK;
    weir_call_begin(&call, m);
    weir_call_lock(&call, entry.place.group);
    weir_entry_load(&call, &entry);
    if ((verb == WEIR_VERB_CHARGE && cost > 0) ||
        (verb == WEIR_VERB_REFUND && weir_entry_misfits(&entry))) {
        status = weir_entry_reserve(&call, &entry, now_us, NULL, 0, error);
    }
    if (status == WEIR_OK && verb != WEIR_VERB_PEEK) {
        status = weir_entry_prepare(&call, &entry, now_us, true, 1, error);
    }
    if (status == WEIR_OK) {
        const weir_effect effect = weir_memory_step(limit, &entry.state, now_us, verb, cost, out);
        if (verb != WEIR_VERB_PEEK) {
            weir_entry_save(&call, &entry, effect, out);
        }
        weir_call_commit(&call);
    }
    weir_call_unlock(&call, entry.place.group);
    weir_call_end(&call);
    return status;
}

weir_status weir_memory_reset(weir_store *store, const weir_check *check, weir_error *error)
{
    (void)error;
    memory_store *m = (memory_store *)store;
    weir_entry entry = {.limit = check->limit,
                        .place = weir_table_place(&m->table, weir_memory_tag(m, check))};
    weir_call call;
    weir_call_begin(&call, m);
    weir_call_lock(&call, entry.place.group);
    if (weir_table_find(&entry.place) != NULL) {
        weir_entry_forget(&call, &entry);
        weir_call_commit(&call);
    }
    weir_call_unlock(&call, entry.place.group);
    weir_call_end(&call);
    return WEIR_OK;
}

int64_t weir_memory_now_us(weir_store *store)
{
    return weir_memory_clock((memory_store *)store);
}

// What side memory must leave of a mapping, for journals and at least a group of keys.
static size_t least_table(size_t size, bool shared)
{
    return LEAST_TABLE_BYTES + (shared ? weir_memory_layout_of(size, 0, true).groups_at : 0);
}

weir_status weir_memory_check_sizes(size_t size, size_t side_bytes, bool no_side, bool shared,
                                    weir_error *error)
{
    if (no_side && side_bytes != 0) {
        return weir_fail(error, WEIR_INVALID,
                         "side_bytes was %zu with no_side; give one or the other", side_bytes);
    }
    const size_t least = least_table(size, shared);
    if (side_bytes > size - least) {
        return weir_fail(
            error, WEIR_INVALID,
            "side_bytes was %zu; it must leave the table %zu KiB of the %zu in size_bytes",
            side_bytes, (least + 1023) / 1024, size);
    }
    return WEIR_OK;
}

// The head, journals on their own lines, groups, sets on their own 256 bytes, then side memory.
weir_memory_layout weir_memory_layout_of(size_t size, size_t side_bytes, bool shared)
{
    weir_memory_layout layout = {.journals_at = (sizeof(weir_memory_head) + 63) & ~(size_t)63};
    if (shared) {
        const size_t count = size / BYTES_A_JOURNAL;
        layout.journal_count = count < 1              ? 1
                               : count > JOURNALS_MAX ? JOURNALS_MAX
                                                      : (uint32_t)count;
    }
    layout.groups_at =
        (layout.journals_at + layout.journal_count * sizeof(weir_journal) + 63) & ~(size_t)63;
    const size_t groups = (size - side_bytes - layout.groups_at - 256) / GROUP_BYTES;
    layout.group_count = groups < UINT32_MAX ? (uint32_t)groups : UINT32_MAX;
    layout.sets_at =
        (layout.groups_at + layout.group_count * sizeof(weir_group) + 255) & ~(size_t)255;
    layout.side_at =
        layout.sets_at + (size_t)layout.group_count * WEIR_GROUP_SETS * sizeof(weir_set);
    return layout;
}

static void init_lock(pthread_mutex_t *lock, bool shared)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if (shared) {
        pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    }
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

static void lay_out(memory_store *m, const weir_memory_layout *layout)
{
    const bool shared = layout->journal_count > 0;
    weir_memory_head *head = m->head;
    head->journal_count = layout->journal_count;
    for (uint32_t i = 0; i < layout->journal_count; i++) {
        init_lock(&m->journals[i].lock, shared);
        m->journals[i].at =
            (uint32_t)(((size_t)((char *)&m->journals[i] - (char *)head)) / sizeof(uint64_t));
    }
    for (uint32_t i = 0; i < layout->group_count; i++) {
        init_lock(&m->table.groups[i].lock, shared);
    }
    init_lock(&head->side_lock, shared);
    init_lock(&head->recovery_lock, shared);
    weir_side_init(&m->side);
}

void weir_memory_attach(memory_store *m, const weir_store_kind *kind, weir_memory_head *head,
                        const weir_memory_layout *layout, bool fresh)
{
    char *base = (char *)head;
    *m = (memory_store){
        .store.kind = kind,
        .table = {(weir_set *)(base + layout->sets_at), (weir_group *)(base + layout->groups_at),
                  layout->group_count},
        .seed = {head->seed[0], head->seed[1]},
        .side = weir_side_at(base + layout->side_at,
                             head->side_bytes > 0 ? head->size_bytes - layout->side_at : 0,
                             head->side_free),
        .head = head,
        .size_bytes = head->size_bytes,
        .journal_count = layout->journal_count,
        .journals = layout->journal_count > 0 ? (weir_journal *)(base + layout->journals_at) : NULL,
    };
    if (fresh) {
        lay_out(m, layout);
    }
}
