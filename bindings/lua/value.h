// Values from Lua, or an error that says what the value was. `what` names it.

#ifndef WEIR_LUA_VALUE_H
#define WEIR_LUA_VALUE_H

#include <lauxlib.h>
#include <lua.h>
#include <stdint.h>

// A whole number in range, as an integer or as a float that is exactly one.
int64_t value_whole(lua_State *L, int index, const char *what, int64_t least, int64_t most);

// A key or an id: text, or a whole number, which becomes text in its place on the stack.
const char *value_bytes(lua_State *L, int index, const char *what, size_t *size);

// Text without a NUL.
const char *value_text(lua_State *L, int index, const char *what);

// Pushes and gives the value as a sentence shows it.
const char *value_shown(lua_State *L, int index);

#endif
