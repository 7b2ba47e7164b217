// Limits, and the checks that they make when they are called.

#ifndef WEIR_LUA_LIMITS_H
#define WEIR_LUA_LIMITS_H

#include <lua.h>
#include <stdbool.h>

#include "weir/check.h"

// What follows limit and key: for a concurrency limit an id, for any other a cost.
enum { READ_COST = 1, READ_ID = 2, ID_MAY_LACK = 4 };

// Reads limit, key and what the bits ask for, from index on. The check points into values on the
// stack.
void limits_read(lua_State *L, int index, unsigned bits, weir_check *out);

// What limit(key, cost) made. Raises for any other value; `place` is where in its list it was.
const weir_check *limits_check_at(lua_State *L, int index, int place);

// A check from what limit(key, cost) made, or one without a key from a limit. False for any other
// value.
bool limits_test(lua_State *L, int index, weir_check *out);

// Pushes the table that weir.vocabulary calls its host.
void limits_push_host(lua_State *L);

#endif
