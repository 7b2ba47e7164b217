// From C to the caller: a status as an error or as nil, message, code; a decision as a table.

#include "answer.h"

int answer_failure(lua_State *L, weir_status status, const weir_error *error)
{
    const char *message = error->message[0] != '\0' ? error->message : weir_status_meaning(status);
    if (status == WEIR_INVALID) {
        return luaL_error(L, "%s", message);
    }
    lua_pushnil(L);
    lua_pushstring(L, message);
    lua_pushstring(L, weir_status_name(status));
    return 3;
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

void answer_row(lua_State *L, const weir_decision *row, int more)
{
    lua_createtable(L, 0, 6 + more);
    if (row->status != WEIR_OK) {
        set_text(L, "code", weir_status_name(row->status));
        set_text(L, "message", weir_status_meaning(row->status));
        return;
    }
    lua_pushboolean(L, row->allowed);
    lua_setfield(L, -2, "allowed");
    set_integer(L, "limit", row->limit);
    set_integer(L, "remaining", row->remaining);
    set_integer(L, "retry_after_us", row->retry_after_us);
    set_integer(L, "reset_after_us", row->reset_after_us);
    set_integer(L, "delay_us", row->delay_us);
}
