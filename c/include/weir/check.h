// A check: may this key take this cost from this limit?

#ifndef WEIR_CHECK_H
#define WEIR_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "weir/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_check {
    const weir_limit *limit;
    const void *key; // any bytes. An empty key is refused: it is nearly always a missing field
    size_t key_size;
    int64_t cost;   // 0 to 2^43. Nought always passes and takes nothing
    const void *id; // concurrency: who holds the place, any bytes. Stands in place of the cost
    size_t id_size;
    const void *tag; // Redis: what places the key in a cluster, any bytes, such as a tenant: checks
                     // of one list must share it. It is part of the key's name. Empty: the key
    size_t tag_size;
} weir_check;

// The key and its size from a literal or a char array: {&limit, WEIR_TEXT("bob"), .cost = 1}.
#define WEIR_TEXT(literal) (literal), (sizeof(literal) - 1)

#ifdef __cplusplus
}
#endif

#endif
