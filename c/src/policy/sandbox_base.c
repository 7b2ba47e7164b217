// The basic functions and math. A function is here when a policy of fifteen lines may want it and
// it can neither loop, nor load, nor reach past the policy.

#include "budget.h"
#include "sandbox.h"

#include <lualib.h>
#include <string.h>

// The prices of a call of our own, in instructions. Looking for the next key may pass over a table
// full of holes.
enum { PCALL_PRICE = 10, NEXT_PRICE = 8, METATABLE_PRICE = 20 };

// A breach goes through: nothing that a policy catches lets it run on. Memory at its end is one.
static int base_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    budget_charge(L, PCALL_PRICE);
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    int result = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
    if (result == LUA_OK) {
        return lua_gettop(L);
    }
    const budget *b = budget_of(L);
    if (b->breach != BREACH_NONE) {
        return lua_error(L);
    }
    if (result == LUA_ERRMEM) {
        budget_raise_refusal(L);
    }
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static int base_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    budget_charge(L, NEXT_PRICE);
    lua_settop(L, 2);
    if (lua_next(L, 1)) {
        return 2;
    }
    lua_pushnil(L);
    return 1;
}

static int base_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_pushcfunction(L, base_next);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

// Without addresses: the same request gives the same answer.
static int base_tostring(lua_State *L)
{
    switch (lua_type(L, 1)) {
    case LUA_TNONE:
        return luaL_argerror(L, 1, "value expected");
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING:
        luaL_tolstring(L, 1, NULL);
        break;
    default:
        lua_pushstring(L, luaL_typename(L, 1));
    }
    return 1;
}

// What a policy's metatable may hold. Not __gc, __close and __mode, which run or collect behind our
// back, nor what the libraries and messages would call.
static const char *const metamethods[] = {
    "__index", "__newindex", "__call", "__concat", "__eq",  "__lt",  "__le",
    "__unm",   "__add",      "__sub",  "__mul",    "__div", "__mod", "__pow",
    "__idiv",  "__band",     "__bor",  "__bxor",   "__shl", "__shr", "__bnot",
};
enum { METAMETHOD_COUNT = sizeof metamethods / sizeof metamethods[0] };

static bool is_metamethod(const char *name)
{
    for (int i = 0; i < METAMETHOD_COUNT; i++) {
        if (strcmp(name, metamethods[i]) == 0) {
            return true;
        }
    }
    return false;
}

// Every key that begins with two underscores is on the list, else the policy would rely on what we
// leave out.
static void check_metatable(lua_State *L, int index)
{
    lua_pushnil(L);
    while (lua_next(L, index)) {
        budget_charge(L, NEXT_PRICE);
        if (lua_type(L, -2) == LUA_TSTRING) {
            const char *name = lua_tostring(L, -2);
            if (strncmp(name, "__", 2) == 0 && !is_metamethod(name)) {
                luaL_error(L, "a policy's metatable can't have '%s'", name);
            }
        }
        lua_pop(L, 1);
    }
}

// Locks the table on top, so that no chain of __index can be built: looking along one takes one
// instruction, however long it is. Upvalue 1 is the empty metatable that marks such tables.
static void seal_index(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    if (lua_getmetatable(L, -2)) {
        if (!lua_rawequal(L, -1, -2)) {
            luaL_error(L, "the table that is __index can't have a metatable itself");
        }
        lua_pop(L, 1);
    }
    lua_setmetatable(L, -2);
}

// The metamethod on top must be a function of the policy; __index may be a table too.
static void check_metamethod(lua_State *L, const char *name)
{
    if (lua_type(L, -1) == LUA_TTABLE && strcmp(name, "__index") == 0) {
        if (lua_rawequal(L, -1, 1)) {
            luaL_error(L, "a table can't be its own __index");
        }
        seal_index(L);
        return;
    }
    if (lua_type(L, -1) != LUA_TFUNCTION || lua_iscfunction(L, -1)) {
        luaL_error(L, "the metamethod '%s' must be a function of the policy", name);
    }
}

// The metatable that the table gets is a copy, out of the policy's reach.
static int base_setmetatable(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    budget_charge(L, METATABLE_PRICE);
    if (lua_getmetatable(L, 1)) {
        return luaL_error(L, "the table has a metatable already, or is the __index of another");
    }
    check_metatable(L, 2);
    lua_newtable(L);
    for (int i = 0; i < METAMETHOD_COUNT; i++) {
        lua_pushstring(L, metamethods[i]);
        if (lua_rawget(L, 2) == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        check_metamethod(L, metamethods[i]);
        lua_setfield(L, 3, metamethods[i]);
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, 3, "__metatable");
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

void sandbox_push_setmetatable(lua_State *L)
{
    lua_createtable(L, 0, 1);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushcclosure(L, base_setmetatable, 1);
}

static const luaL_Reg base_own[] = {
    {"next", base_next},         {"pairs", base_pairs}, {"pcall", base_pcall},
    {"tostring", base_tostring}, {NULL, NULL},
};
static const char *const base_plain[] = {
    "_VERSION", "assert", "error", "ipairs", "rawequal", "rawget", "rawlen", "type", NULL,
};
static const char *const base_charged[] = {"select", "tonumber", NULL};

const sandbox_library sandbox_base = {luaopen_base, base_own, base_plain, base_charged};

static const luaL_Reg math_own[] = {{NULL, NULL}};
static const char *const math_plain[] = {
    "abs",  "ceil", "floor", "fmod",      "huge", "maxinteger", "mininteger",
    "modf", "pi",   "sqrt",  "tointeger", "type", "ult",        NULL,
};
static const char *const math_charged[] = {"max", "min", NULL};

const sandbox_library sandbox_math = {luaopen_math, math_own, math_plain, math_charged};
