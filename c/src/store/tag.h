// What places a check in a cluster: its tag, or its key.

#ifndef WEIR_SRC_TAG_H
#define WEIR_SRC_TAG_H

#include "weir/check.h"

static inline const void *weir_tag_of(const weir_check *check, size_t *size)
{
    const bool tagged = check->tag != NULL && check->tag_size > 0;
    *size = tagged ? check->tag_size : check->key_size;
    return tagged ? check->tag : check->key;
}

#endif
