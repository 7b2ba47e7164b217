// apart.h: a store over another one, whose keys meet none but those of this run.

#ifndef WEIR_TOOL_STORE_APART_H
#define WEIR_TOOL_STORE_APART_H

#include <weir/store.h>

// Opens it, and owns `under` from then on, also when there is no memory (NULL). Every check gets a
// tag of this run, which is part of the key's name in Redis and puts all keys into one slot of a
// cluster. `purpose` begins the tag.
weir_store *store_apart(weir_store *under, const char *purpose);

// Forgets every key that was recorded under it. What fails is left to its TTL.
void store_apart_clear(weir_store *store);

#endif
