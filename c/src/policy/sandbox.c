// Building the environment from the libraries' allow lists.
//
// Nothing is taken away from Lua's libraries: a new table gets what is on the lists, and the
// libraries themselves become unreachable.

#include "sandbox.h"

#include "budget.h"

#include <lualib.h>

// The key of the table of modules in the registry, and of the string that Lua makes when an error
// handler fails: it must exist beforehand, since at that moment memory may be at its end.
static const char modules_key, spare_key;

static int refuse_assignment(lua_State *L)
{
    const char *what = lua_touserdata(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING) {
        return luaL_error(L, "%s can't be changed", what);
    }
    return luaL_error(L, "%s can't be changed: '%s' must be a local of the policy", what,
                      lua_tostring(L, 2));
}

void sandbox_protect(lua_State *L, const char *what)
{
    lua_newtable(L);
    lua_createtable(L, 0, 3);
    lua_rotate(L, -3, -1);
    lua_setfield(L, -2, "__index");
    lua_pushlightuserdata(L, (void *)(uintptr_t)what);
    lua_pushcclosure(L, refuse_assignment, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

// Upvalue 1 is a function of Lua's library whose work grows with its arguments.
static int charged(lua_State *L)
{
    int count = lua_gettop(L);
    size_t size = 0;
    for (int i = 1; i <= count; i++) {
        if (lua_type(L, i) == LUA_TSTRING) {
            size += lua_rawlen(L, i);
        }
    }
    budget_charge(L, 2 + count / 8 + (int64_t)(size / 16));
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

// The table on top gets the library's names.
static void copy_library(lua_State *L, const sandbox_library *library)
{
    int to = lua_gettop(L);
    lua_pushcfunction(L, library->open);
    lua_call(L, 0, 1);
    for (const char *const *name = library->plain; *name != NULL; name++) {
        lua_getfield(L, -1, *name);
        lua_setfield(L, to, *name);
    }
    for (const char *const *name = library->charged; *name != NULL; name++) {
        lua_getfield(L, -1, *name);
        lua_pushcclosure(L, charged, 1);
        lua_setfield(L, to, *name);
    }
    lua_settop(L, to);
    luaL_setfuncs(L, library->own, 0);
}

static int require(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, -2) == LUA_TNIL) {
        return luaL_error(L, "there is no module '%s': a policy has require \"weir\" alone", name);
    }
    return 1;
}

void sandbox_provide(lua_State *L, const char *name)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
    lua_rotate(L, -2, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

// Strings get methods and nothing else: without arithmetic, no text is read as a number in one
// instruction.
static void set_string_methods(lua_State *L)
{
    lua_pushliteral(L, "");
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void sandbox_open(lua_State *L)
{
    lua_newtable(L);
    copy_library(L, &sandbox_base);
    lua_pushcfunction(L, require);
    lua_setfield(L, -2, "require");
    sandbox_push_setmetatable(L);
    lua_setfield(L, -2, "setmetatable");

    lua_newtable(L);
    copy_library(L, &sandbox_string);
    lua_getfield(L, -1, "format");
    sandbox_wrap_format(L);
    lua_setfield(L, -2, "format");
    set_string_methods(L);
    sandbox_protect(L, "the string library");
    lua_setfield(L, -2, "string");

    lua_newtable(L);
    copy_library(L, &sandbox_table);
    sandbox_protect(L, "the table library");
    lua_setfield(L, -2, "table");

    lua_newtable(L);
    copy_library(L, &sandbox_math);
    sandbox_protect(L, "the math library");
    lua_setfield(L, -2, "math");

    sandbox_protect(L, "the globals");
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);

    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
    lua_pushliteral(L, "error in error handling");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &spare_key);
}
