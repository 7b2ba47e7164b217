// Limits kept in this process: opening, the verbs for one key, closing.

#include "store/memory/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include "error.h"

#define DEFAULT_BYTES     ((size_t)16 << 20)
#define LEAST_BYTES       ((size_t)64 << 10)
#define LEAST_TABLE_BYTES ((size_t)32 << 10)
#define HUGE_PAGE_BYTES   ((size_t)2 << 20)
#define GROUP_BYTES       (sizeof(weir_group) + WEIR_GROUP_SETS * sizeof(weir_set))

_Static_assert(sizeof(weir_cell) == 24, "a key takes 32 bytes with its name");
_Static_assert(sizeof(weir_set) == 256, "a set is four cache lines");
_Static_assert(sizeof(weir_group) == 64, "a lock and its counters share a cache line");

int64_t weir_memory_clock(const memory_store *m)
{
    if (m->clock != NULL) {
        return m->clock->now_us(m->clock->context);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * WEIR_SECOND + now.tv_nsec / 1000;
}

// The short way, for limits whose whole state is in the cell: one look-up, one step, one write.
static weir_status take_at(memory_store *m, const weir_check *check, const weir_place *place,
                           int64_t now_us, weir_decision *out, weir_error *error)
{
    const weir_limit *limit = check->limit;
    weir_group_lock(place->group);
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
        if (cell == NULL) {
            cell = weir_table_insert(place, now_us, NULL, 0, weir_memory_forget, m);
        }
        *cell = weir_cell_pack(limit, &state, (uint64_t)state.second, weir_used_of(limit, out));
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

static weir_status memory_take(weir_store *store, const weir_check *check, int64_t now_us,
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

static weir_status memory_take_many(weir_store *store, const weir_check *checks, size_t count,
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

static weir_status memory_step(weir_store *store, weir_verb verb, const weir_check *check,
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

    weir_status status = WEIR_OK;
    weir_group_lock(entry.place.group);
    weir_entry_load(m, &entry);
    if ((verb == WEIR_VERB_CHARGE && cost > 0) ||
        (verb == WEIR_VERB_REFUND && weir_entry_misfits(&entry))) {
        status = weir_entry_reserve(m, &entry, now_us, NULL, 0, error);
    }
    if (status == WEIR_OK) {
        const weir_effect effect = weir_memory_step(limit, &entry.state, now_us, verb, cost, out);
        if (verb != WEIR_VERB_PEEK) {
            weir_entry_save(m, &entry, effect, out);
        }
    }
    weir_group_unlock(entry.place.group);
    return status;
}

static weir_status memory_reset(weir_store *store, const weir_check *check, weir_error *error)
{
    (void)error;
    memory_store *m = (memory_store *)store;
    weir_entry entry = {.limit = check->limit,
                        .place = weir_table_place(&m->table, weir_memory_tag(m, check))};
    weir_group_lock(entry.place.group);
    if (weir_table_find(&entry.place) != NULL) {
        weir_entry_forget(m, &entry);
    }
    weir_group_unlock(entry.place.group);
    return WEIR_OK;
}

static int64_t memory_now_us(weir_store *store)
{
    return weir_memory_clock((memory_store *)store);
}

static void memory_close(weir_store *store)
{
    memory_store *m = (memory_store *)store;
    for (uint32_t i = 0; i < m->table.group_count; i++) {
        pthread_mutex_destroy(&m->table.groups[i].lock);
    }
    pthread_mutex_destroy(&m->side_lock);
    munmap(m, m->size_bytes);
}

static const weir_store_kind memory_kind = {
    .take = memory_take,
    .take_all = weir_memory_take_all,
    .take_many = memory_take_many,
    .step = memory_step,
    .reset = memory_reset,
    .now_us = memory_now_us,
    .close = memory_close,
};

// One mapping holds everything, and is all that the store ever uses. A large one begins on a huge
// page: a look-up is then a cache miss without a page walk.
static void *map(size_t bytes)
{
    const size_t slack = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 0;
    char *start =
        mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    if (slack == 0) {
        return start;
    }
    char *aligned = (char *)(((uintptr_t)start + slack - 1) & ~(uintptr_t)(slack - 1));
    if (aligned > start) {
        munmap(start, (size_t)(aligned - start));
    }
    const size_t page_up = (bytes + 4095) & ~(size_t)4095;
    if (aligned + page_up < start + bytes + slack) {
        munmap(aligned + page_up, (size_t)(start + bytes + slack - aligned) - page_up);
    }
    madvise(aligned, bytes, MADV_HUGEPAGE); // a wish; without it all is well, only slower
    return aligned;
}

static weir_status check_sizes(const weir_memory_options *o, size_t size, weir_error *error)
{
    if (size < LEAST_BYTES) {
        return weir_fail(error, WEIR_INVALID,
                         "size_bytes was %zu; it must be at least 65536 (64 KiB)", size);
    }
    if (o->no_side && o->side_bytes != 0) {
        return weir_fail(error, WEIR_INVALID,
                         "side_bytes was %zu with no_side; give one or the other", o->side_bytes);
    }
    if (o->side_bytes > size - LEAST_TABLE_BYTES) {
        return weir_fail(
            error, WEIR_INVALID,
            "side_bytes was %zu; it must leave the table 32 KiB of the %zu in size_bytes",
            o->side_bytes, size);
    }
    return WEIR_OK;
}

weir_status weir_memory_open(weir_store **out, const weir_memory_options *options,
                             weir_error *error)
{
    const weir_memory_options defaults = {0};
    const weir_memory_options *o = options != NULL ? options : &defaults;
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    const size_t size = o->size_bytes != 0 ? o->size_bytes : DEFAULT_BYTES;
    *out = NULL;
    weir_status status = check_sizes(o, size, error);
    if (status != WEIR_OK) {
        return status;
    }
    const size_t side_bytes = o->no_side ? 0 : o->side_bytes != 0 ? o->side_bytes : size / 4;
    // The store itself, its groups, then sets on their own 256 bytes, then the side memory.
    const size_t begin = (sizeof(memory_store) + 63) & ~(size_t)63;
    const size_t groups = (size - side_bytes - begin - 256) / GROUP_BYTES;
    if (groups > UINT32_MAX) {
        return weir_fail(error, WEIR_INVALID, "size_bytes was %zu; it must be at most 64 TiB",
                         size);
    }
    memory_store *m = map(size);
    if (m == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "%zu bytes could not be had for a memory store",
                         size);
    }
    char *base = (char *)m;
    const size_t sets_at = (begin + groups * sizeof(weir_group) + 255) & ~(size_t)255;
    const size_t side_at = sets_at + groups * WEIR_GROUP_SETS * sizeof(weir_set);
    m->store.kind = &memory_kind;
    m->clock = o->clock;
    m->size_bytes = size;
    m->table =
        (weir_table){(weir_set *)(base + sets_at), (weir_group *)(base + begin), (uint32_t)groups};
    if (getrandom(m->seed, sizeof m->seed, 0) != (ssize_t)sizeof m->seed) {
        munmap(m, size);
        return weir_fail(error, WEIR_IO, "the kernel gave no random seed for a memory store");
    }
    for (size_t i = 0; i < groups; i++) {
        pthread_mutex_init(&m->table.groups[i].lock, NULL);
    }
    pthread_mutex_init(&m->side_lock, NULL);
    weir_side_init(&m->side, base + side_at, o->no_side ? 0 : size - side_at);
    *out = &m->store;
    return WEIR_OK;
}

weir_status weir_memory_counters(weir_store *store, weir_counters *out)
{
    if (store == NULL || store->kind != &memory_kind) {
        return WEIR_INVALID;
    }
    memory_store *m = (memory_store *)store;
    *out = (weir_counters){.size_bytes = m->size_bytes};
    for (uint32_t i = 0; i < m->table.group_count; i++) {
        weir_group *group = &m->table.groups[i];
        weir_group_lock(group);
        out->keys += group->keys;
        out->evicted += group->evicted;
        out->allowed += group->allowed;
        out->refused += group->refused;
        weir_group_unlock(group);
    }
    return WEIR_OK;
}
