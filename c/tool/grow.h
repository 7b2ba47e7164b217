// grow.h: arrays that grow in place. Pages not written yet take no memory, and a move copies none.

#ifndef WEIR_TOOL_GROW_H
#define WEIR_TOOL_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

typedef struct grow {
    void *data;
    size_t size_bytes; // of the mapping
} grow;

// Makes room for at least size_bytes; pointers into the array may move. False: no memory, and the
// array is as it was.
static inline bool grow_to(grow *array, size_t size_bytes)
{
    if (size_bytes <= array->size_bytes) {
        return true;
    }
    size_t wanted = array->size_bytes ? array->size_bytes * 2 : (size_t)64 << 10;
    while (wanted < size_bytes) {
        wanted *= 2;
    }
    void *data = array->data ? mremap(array->data, array->size_bytes, wanted, MREMAP_MAYMOVE)
                             : mmap(NULL, wanted, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        return false;
    }
    array->data = data;
    array->size_bytes = wanted;
    return true;
}

static inline void grow_free(grow *array)
{
    if (array->data) {
        munmap(array->data, array->size_bytes);
    }
    array->data = NULL;
    array->size_bytes = 0;
}

#endif
