// The table functions, by raw access and raw length: no metamethod of a policy makes them loop.

#include "budget.h"
#include "sandbox.h"

#include <lualib.h>
#include <string.h>

// The raw length of the table at 1, which must not be one that refuses assignments.
static lua_Integer check_own_table(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    if (luaL_getmetafield(L, 1, "__newindex") != LUA_TNIL) {
        luaL_argerror(L, 1, "the table refuses assignments");
    }
    return (lua_Integer)lua_rawlen(L, 1);
}

static void move(lua_State *L, lua_Integer from, lua_Integer to)
{
    lua_rawgeti(L, 1, from);
    lua_rawseti(L, 1, to);
}

static int table_insert(lua_State *L)
{
    lua_Integer size = check_own_table(L);
    lua_Integer at = size + 1;
    if (lua_gettop(L) == 3) {
        at = luaL_checkinteger(L, 2);
        luaL_argcheck(L, at >= 1 && at <= size + 1, 2, "position out of bounds");
    } else if (lua_gettop(L) != 2) {
        return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    budget_charge(L, 2 + size - at);
    for (lua_Integer i = size; i >= at; i--) {
        move(L, i, i + 1);
    }
    lua_settop(L, lua_gettop(L) == 3 ? 3 : 2);
    lua_rawseti(L, 1, at);
    return 0;
}

static int table_remove(lua_State *L)
{
    lua_Integer size = check_own_table(L);
    lua_Integer at = luaL_optinteger(L, 2, size);
    if (lua_gettop(L) > 1) {
        luaL_argcheck(L, at >= 1 && at <= size + 1, 2, "position out of bounds");
    }
    budget_charge(L, 2 + (at < size ? size - at : 0));
    lua_rawgeti(L, 1, at);
    for (lua_Integer i = at; i < size; i++) {
        move(L, i + 1, i);
    }
    if (at >= 1 && at <= size) {
        lua_pushnil(L);
        lua_rawseti(L, 1, size);
    }
    return 1;
}

static int table_concat(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    size_t gap_size;
    const char *gap = luaL_optlstring(L, 2, "", &gap_size);
    lua_Integer from = luaL_optinteger(L, 3, 1);
    lua_Integer to = luaL_optinteger(L, 4, (lua_Integer)lua_rawlen(L, 1));
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (lua_Integer i = from; i <= to; i++) {
        budget_charge(L, 2 + (int64_t)(gap_size / 64));
        int type = lua_rawgeti(L, 1, i);
        if (type != LUA_TSTRING && type != LUA_TNUMBER) {
            return luaL_error(L, "the value at index %I is a %s; it must be text or a number",
                              (LUAI_UACINT)i, lua_typename(L, type));
        }
        luaL_addvalue(&text);
        if (i == to) { // the last integer has no next
            break;
        }
        luaL_addlstring(&text, gap, gap_size);
        if (luaL_bufflen(&text) > BUDGET_STRING_MAX) {
            budget_raise(L, BREACH_TEXT);
        }
    }
    luaL_pushresult(&text);
    return 1;
}

static const luaL_Reg table_own[] = {
    {"concat", table_concat}, {"insert", table_insert}, {"remove", table_remove}, {NULL, NULL}};
static const char *const table_none[] = {NULL};

const sandbox_library sandbox_table = {luaopen_table, table_own, table_none, table_none};
