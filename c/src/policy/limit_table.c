// Limits from tables of options.

#include "limit_table.h"

#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

// Options that are numbers, by the names that the vocabulary gives them.
typedef struct option {
    const char *name;
    size_t offset;
} option;

#define OPTION(field)                                                                              \
    {                                                                                              \
#field, offsetof(weir_limit_options, field)                                                \
    }

static const option options[] = {
    OPTION(rate),      OPTION(period_us), OPTION(burst), OPTION(queue),  OPTION(limit),
    OPTION(window_us), OPTION(offset_us), OPTION(slots), OPTION(gap_us), OPTION(ttl_us),
};

// False when an option is a number too large for any; then a sentence is on the stack.
static bool read_numbers(lua_State *L, weir_limit_options *out)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (lua_getfield(L, 1, options[i].name) != LUA_TNIL) {
            int whole;
            int64_t value = lua_tointegerx(L, -1, &whole);
            if (!whole) {
                lua_pushfstring(L, "%s was %s; it must be at most 2^40", options[i].name,
                                luaL_tolstring(L, -1, NULL));
                return false;
            }
            memcpy((char *)out + options[i].offset, &value, sizeof value);
        }
        lua_pop(L, 1);
    }
    // A burst that is given as nought means it.
    if (lua_getfield(L, 1, "burst") != LUA_TNIL && out->burst == 0) {
        out->burst = WEIR_NONE;
    }
    lua_pop(L, 1);
    return true;
}

bool limit_table_flag(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
}

bool limit_table_init(lua_State *L, weir_limit *out)
{
    weir_limit_options given = {0};
    weir_error error;
    size_t size;
    lua_settop(L, 1);
    lua_getfield(L, 1, "algorithm");
    lua_getfield(L, 1, "name");
    given.name = luaL_checklstring(L, 3, &size);
    if (strlen(given.name) != size) {
        lua_pushliteral(L, "name has a NUL; it must be 1 to 64 printable ASCII characters");
        return false;
    }
    if (!read_numbers(L, &given)) {
        return false;
    }
    given.strict = limit_table_flag(L, "strict");
    given.count_denied = limit_table_flag(L, "count_denied");
    if (weir_algorithm_parse(lua_tostring(L, 2), &given.algorithm, &error) != WEIR_OK ||
        weir_limit_init(out, &given, &error) != WEIR_OK) {
        lua_pushstring(L, error.message);
        return false;
    }
    return true;
}
