// From a table of options, as the vocabulary checks and hands it over, to a prepared limit. For
// policies and the Lua binding.

#ifndef WEIR_SRC_LIMIT_TABLE_H
#define WEIR_SRC_LIMIT_TABLE_H

#include <lua.h>
#include <stdbool.h>

#include "weir/limit.h"

// Prepares the limit of the table at index 1. False when it can't be; then a sentence on the stack
// says why. A shadow is the caller's to read.
bool limit_table_init(lua_State *L, weir_limit *out);

bool limit_table_flag(lua_State *L, const char *name);

#endif
