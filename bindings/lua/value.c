// Values from Lua: read exactly, or refused by name.

#include "value.h"

#include <math.h>
#include <string.h>

#define SHOWN_MAX 40

// The beginning of the text, printable, since the sentence may end in a log.
static const char *shown_text(lua_State *L, int index)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);
    char shown[SHOWN_MAX + 1];
    const size_t used = size < SHOWN_MAX ? size : SHOWN_MAX;
    for (size_t i = 0; i < used; i++) {
        shown[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
    }
    shown[used] = '\0';
    return lua_pushfstring(L, "the text \"%s%s\"", shown, used < size ? "..." : "");
}

const char *value_shown(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TSTRING:
        return shown_text(L, index);
    case LUA_TNUMBER:
        if (isnan(lua_tonumber(L, index))) {
            return lua_pushliteral(L, "not a number");
        }
        return luaL_tolstring(L, index, NULL);
    case LUA_TBOOLEAN:
        return lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    case LUA_TNONE:
    case LUA_TNIL:
        return lua_pushliteral(L, "nil");
    default:
        return lua_pushfstring(L, "a %s", luaL_typename(L, index));
    }
}

int64_t value_whole(lua_State *L, int index, const char *what, int64_t least, int64_t most)
{
    if (lua_type(L, index) == LUA_TNUMBER) {
        int whole;
        const lua_Integer value = lua_tointegerx(L, index, &whole);
        if (whole && value >= least && value <= most) {
            return value;
        }
    }
    return luaL_error(L, "%s was %s; it must be a whole number from %I to %I", what,
                      value_shown(L, index), (LUAI_UACINT)least, (LUAI_UACINT)most);
}

const char *value_bytes(lua_State *L, int index, const char *what, size_t *size)
{
    if (lua_type(L, index) == LUA_TNUMBER) {
        int whole;
        const lua_Integer value = lua_tointegerx(L, index, &whole);
        if (!whole) {
            luaL_error(L, "%s was %s; it must be text or a whole number", what,
                       value_shown(L, index));
        }
        lua_pushinteger(L, value);
        const char *text = lua_tolstring(L, -1, size);
        lua_replace(L, index);
        return text;
    }
    if (lua_type(L, index) != LUA_TSTRING) {
        luaL_error(L, "%s was %s; it must be text or a whole number", what, value_shown(L, index));
    }
    const char *text = lua_tolstring(L, index, size);
    if (*size == 0) {
        luaL_error(L, "%s was empty; it must have at least one byte", what);
    }
    return text;
}

const char *value_text(lua_State *L, int index, const char *what)
{
    size_t size;
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &size) : NULL;
    if (text == NULL || strlen(text) != size) {
        luaL_error(L, "%s was %s; it must be text without a NUL", what, value_shown(L, index));
    }
    return text;
}
