// Limits kept in this process: opening, counting, closing.

#include <sys/mman.h>
#include <sys/random.h>

#include "error.h"
#include "store/memory/memory.h"

#define DEFAULT_BYTES   ((size_t)16 << 20)
#define LEAST_BYTES     ((size_t)64 << 10)
#define MOST_BYTES      ((size_t)64 << 40)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

// The handle lies before the head, in the one mapping that is all the store ever uses.
#define HANDLE_BYTES ((sizeof(memory_store) + 63) & ~(size_t)63)

static void private_close(weir_store *store)
{
    memory_store *m = (memory_store *)store;
    for (uint32_t i = 0; i < m->table.group_count; i++) {
        pthread_mutex_destroy(&m->table.groups[i].lock);
    }
    pthread_mutex_destroy(&m->head->side_lock);
    pthread_mutex_destroy(&m->head->recovery_lock);
    munmap(m, m->size_bytes + HANDLE_BYTES);
}

static const weir_store_kind private_kind = {
    .take = weir_memory_take,
    .take_all = weir_memory_take_all,
    .take_many = weir_memory_take_many,
    .step = weir_memory_verb,
    .reset = weir_memory_reset,
    .now_us = weir_memory_now_us,
    .close = private_close,
};

// A large mapping begins on a huge page: a look-up is then a cache miss without a page walk.
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

weir_status weir_memory_open(weir_store **out, const weir_memory_options *options,
                             weir_error *error)
{
    const weir_memory_options defaults = {0};
    const weir_memory_options *o = options != NULL ? options : &defaults;
    *out = NULL;
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    const size_t size = o->size_bytes != 0 ? o->size_bytes : DEFAULT_BYTES;
    if (size < LEAST_BYTES) {
        return weir_fail(error, WEIR_INVALID,
                         "size_bytes was %zu; it must be at least 65536 (64 KiB)", size);
    }
    if (size > MOST_BYTES) {
        return weir_fail(error, WEIR_INVALID, "size_bytes was %zu; it must be at most 64 TiB",
                         size);
    }
    const weir_status status =
        weir_memory_check_sizes(size, o->side_bytes, o->no_side, false, error);
    if (status != WEIR_OK) {
        return status;
    }
    memory_store *m = map(size);
    if (m == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "%zu bytes could not be had for a memory store",
                         size);
    }
    weir_memory_head *head = (weir_memory_head *)((char *)m + HANDLE_BYTES);
    head->size_bytes = size - HANDLE_BYTES;
    head->side_bytes = o->no_side ? 0 : o->side_bytes != 0 ? o->side_bytes : size / 4;
    if (getrandom(head->seed, sizeof head->seed, 0) != (ssize_t)sizeof head->seed) {
        munmap(m, size);
        return weir_fail(error, WEIR_IO, "the kernel gave no random seed for a memory store");
    }
    const weir_memory_layout layout =
        weir_memory_layout_of(head->size_bytes, head->side_bytes, false);
    weir_memory_attach(m, &private_kind, head, &layout, true);
    m->clock = o->clock;
    *out = &m->store;
    return WEIR_OK;
}

weir_status weir_memory_counters(weir_store *store, weir_counters *out)
{
    if (store == NULL || store->kind->take != weir_memory_take) {
        return WEIR_INVALID;
    }
    memory_store *m = (memory_store *)store;
    const size_t handle_bytes = m->journals == NULL ? HANDLE_BYTES : 0;
    *out = (weir_counters){.size_bytes = m->size_bytes + handle_bytes};
    for (uint32_t i = 0; i < m->table.group_count; i++) {
        weir_group *group = &m->table.groups[i];
        weir_group_lock(m, group);
        out->keys += group->keys;
        out->evicted += group->evicted;
        out->allowed += group->allowed;
        out->refused += group->refused;
        weir_group_unlock(group);
    }
    return WEIR_OK;
}
