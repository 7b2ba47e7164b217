// The only ways from C to the caller: a status as an error or as nil, message, code; a decision as
// a table.

#ifndef WEIR_LUA_ANSWER_H
#define WEIR_LUA_ANSWER_H

#include <lauxlib.h>
#include <lua.h>

#include "weir/decision.h"
#include "weir/status.h"

// WEIR_INVALID is the caller's mistake and raises; else nil, message, code.
int answer_failure(lua_State *L, weir_status status, const weir_error *error);

// Pushes a table with the six fields of a row and room for `more` others. A row that was not
// answered has code and message instead.
void answer_row(lua_State *L, const weir_decision *row, int more);

#endif
