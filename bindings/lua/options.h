// The table of options at index 1. An absent option is 0, false or NULL.

#ifndef WEIR_LUA_OPTIONS_H
#define WEIR_LUA_OPTIONS_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

// Refuses what is no table, and any name that is not in the list, which NULL ends.
void options_check(lua_State *L, const char *const *names);

int64_t options_whole(lua_State *L, const char *name, int64_t most); // at least 1
int64_t options_size(lua_State *L, const char *name);                // "16MiB", or bytes
int64_t options_duration(lua_State *L, const char *name);            // "50ms", in microseconds
bool options_flag(lua_State *L, const char *name);

// Kept by the table.
const char *options_text(lua_State *L, const char *name);

#endif
