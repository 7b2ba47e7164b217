// The string functions, each priced by its work and bounded in what it makes.

#include "budget.h"
#include "sandbox.h"

#include <ctype.h>
#include <lualib.h>
#include <string.h>

// A number with all its digits takes the C library microseconds.
enum { FORMAT_PRICE = 100 };

static int string_rep(lua_State *L)
{
    size_t size, gap_size;
    const char *text = luaL_checklstring(L, 1, &size);
    lua_Integer count = luaL_checkinteger(L, 2);
    const char *gap = luaL_optlstring(L, 3, "", &gap_size);
    if (count <= 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    // An empty text counts as one byte, so that the count is bounded too.
    size_t each = size + gap_size;
    if ((size_t)count > BUDGET_STRING_MAX / (each == 0 ? 1 : each)) {
        return luaL_error(L, "rep makes at most %d bytes", (int)BUDGET_STRING_MAX);
    }
    budget_charge(L, 2 + (int64_t)((size_t)count * (each + 8) / 16));
    luaL_Buffer made;
    char *to = luaL_buffinitsize(L, &made, (size_t)count * each);
    size_t used = 0;
    for (lua_Integer i = 0; i < count; i++) {
        memcpy(to + used, text, size);
        used += size;
        if (i + 1 < count) {
            memcpy(to + used, gap, gap_size);
            used += gap_size;
        }
    }
    luaL_pushresultsize(&made, used);
    return 1;
}

// No addresses (%p), and of values only those whose text is not made by a metamethod. Upvalue 1 is
// Lua's own format.
static int string_format(lua_State *L)
{
    size_t size;
    const char *format = luaL_checklstring(L, 1, &size);
    int64_t price = 2 + (int64_t)(size / 16);
    for (const char *at = format; (at = memchr(at, '%', size - (size_t)(at - format))) != NULL;) {
        price += FORMAT_PRICE;
        at++;
        while (*at != '\0' && !isalpha((unsigned char)*at) && *at != '%') {
            at++;
        }
        if (*at == 'p') {
            return luaL_error(L, "format has no %%p here");
        }
        at += *at == '%';
    }
    int count = lua_gettop(L);
    for (int i = 2; i <= count; i++) {
        int type = lua_type(L, i);
        luaL_argcheck(L,
                      type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER ||
                          type == LUA_TSTRING,
                      i, "text, a number, a boolean or nil expected");
        price += type == LUA_TSTRING ? (int64_t)(lua_rawlen(L, i) / 16) : 0;
    }
    budget_charge(L, price);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

void sandbox_wrap_format(lua_State *L)
{
    lua_pushcclosure(L, string_format, 1);
}

static const luaL_Reg string_own[] = {
    {"find", pattern_find}, {"gsub", pattern_gsub}, {"match", pattern_match},
    {"rep", string_rep},    {NULL, NULL},
};
static const char *const string_plain[] = {"format", NULL};
static const char *const string_charged[] = {
    "byte", "char", "len", "lower", "reverse", "sub", "upper", NULL,
};

const sandbox_library sandbox_string = {luaopen_string, string_own, string_plain, string_charged};
