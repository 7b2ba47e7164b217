// How a check's state is named on the server.

#ifndef WEIR_SRC_REDIS_KEY_H
#define WEIR_SRC_REDIS_KEY_H

#include "weir/redis.h"

// What places the check in a cluster: its tag, or its key.
static inline const void *weir_tag_of(const weir_check *check, size_t *size)
{
    const bool tagged = check->tag != NULL && check->tag_size > 0;
    *size = tagged ? check->tag_size : check->key_size;
    return tagged ? check->tag : check->key;
}

// What an id is sent as: itself, or the mark and its digest when it is long. Both stay valid as
// long as out and the check.
#define WEIR_ID_LONG 128
typedef struct weir_id {
    const char *text;
    size_t size;
    char digest[2 + 64];
} weir_id;

void weir_redis_id(const weir_check *check, weir_id *out);

#endif
