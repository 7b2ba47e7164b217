// The world that a policy sees: a pinned list of functions, behind tables that can't be written.

#ifndef WEIR_POLICY_SANDBOX_H
#define WEIR_POLICY_SANDBOX_H

#include <lauxlib.h>
#include <lua.h>

// Builds the environment and makes it the globals of every chunk loaded from then on. Raises on
// failure, so it is called protected, once for a state.
void sandbox_open(lua_State *L);

// Makes `value` what require gives for `name`; pops it.
void sandbox_provide(lua_State *L, const char *name);

// Replaces the table on top by an empty one that shows it and refuses every assignment; `what`
// names it in the sentence. `what` must be static.
void sandbox_protect(lua_State *L, const char *what);

// The functions of each library that are our own, and the rest of what it may hold: names of
// functions of Lua's library, taken as they are or, in `charged`, priced by the size of their
// arguments.
typedef struct sandbox_library {
    lua_CFunction open;
    const luaL_Reg *own;
    const char *const *plain;
    const char *const *charged;
} sandbox_library;

extern const sandbox_library sandbox_base;
extern const sandbox_library sandbox_string;
extern const sandbox_library sandbox_table;
extern const sandbox_library sandbox_math;

// Pushes setmetatable, which shares a mark between its calls.
void sandbox_push_setmetatable(lua_State *L);

// Replaces Lua's format on top by one that is priced and shows no addresses.
void sandbox_wrap_format(lua_State *L);

// Patterns, counted by the step (pattern.c).
int pattern_find(lua_State *L);
int pattern_match(lua_State *L);
int pattern_gsub(lua_State *L);

#endif
