// A store's handle and its verbs, whatever kind the store is.

#ifndef WEIR_LUA_STORE_H
#define WEIR_LUA_STORE_H

#include <lua.h>

#include "weir/store.h"

// Pushes a handle without a store, for the caller to fill: so nothing is lost when memory is.
weir_store **store_push(lua_State *L);

// The handle calls the function at the top, which it pops, when no now is given.
void store_use_clock(lua_State *L, int index);

// The store of the handle at index. Raises when it is closed.
weir_store *store_at(lua_State *L, int index);

// What is at now_index; for nil what the clock of the handle at index says, or 0 for the store's
// own. May run Lua.
int64_t store_now(lua_State *L, int index, int now_index, const char *what);

void store_register(lua_State *L);

// memory.c: weir.memory, and the method `counters`.
int memory_open(lua_State *L);
int memory_counters(lua_State *L);

#endif
