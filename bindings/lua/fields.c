// A table as the fields of a request or response: names to text or numbers.

#include "fields.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "value.h"

// A policy reads numbers as doubles, so a larger integer would change on the way.
#define EXACT_MAX (INT64_C(1) << 53)

static void check_field(lua_State *L, const char *what)
{
    size_t size;
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &size) : NULL;
    if (name == NULL || strlen(name) != size) {
        luaL_error(L, "%s has the name %s; a name must be text without a NUL", what,
                   value_shown(L, -2));
    }
    if (lua_isinteger(L, -1)) {
        const lua_Integer value = lua_tointeger(L, -1);
        if (value > EXACT_MAX || value < -EXACT_MAX) {
            luaL_error(L, "%s.%s was %I; a number above 2^53 must be given as text", what, name,
                       (LUAI_UACINT)value);
        }
    } else if (lua_type(L, -1) != LUA_TNUMBER && lua_type(L, -1) != LUA_TSTRING) {
        luaL_error(L, "%s.%s was %s; it must be text or a number, or be left out", what, name,
                   value_shown(L, -1));
    }
}

static weir_field read_field(lua_State *L)
{
    weir_field field = {.name = lua_tostring(L, -2)};
    if (lua_type(L, -1) == LUA_TNUMBER) {
        field.is_number = true;
        field.number = lua_tonumber(L, -1);
    } else {
        field.text = lua_tolstring(L, -1, &field.text_size);
    }
    return field;
}

fields fields_room(lua_State *L, int index, const char *what)
{
    if (!lua_istable(L, index)) {
        luaL_error(L, "%s was %s; it must be a table of fields", what, value_shown(L, index));
    }
    fields made = {.room = 0};
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        made.room++;
    }
    made.list = lua_newuserdatauv(L, made.room * sizeof *made.list + 1, 0);
    return made;
}

void fields_read(lua_State *L, int index, const char *what, fields *out)
{
    lua_pushnil(L);
    while (lua_next(L, index)) {
        check_field(L, what);
        const weir_field field = read_field(L);
        lua_pop(L, 1);
        if (strcmp(field.name, "time") == 0) {
            continue;
        }
        if (out->count == out->room) {
            luaL_error(L, "%s was changed while it was read", what);
        }
        out->list[out->count++] = field;
    }
}
