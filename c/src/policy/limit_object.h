// Limits as a policy sees them.

#ifndef WEIR_POLICY_LIMIT_OBJECT_H
#define WEIR_POLICY_LIMIT_OBJECT_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

// Prepares the metatable of limits, once for a state. Raises.
void limit_object_open(lua_State *L);

// Pushes the limit that has this index in the source. Raises.
void limit_object_push(lua_State *L, size_t index, bool is_concurrency);

#endif
