// Tables of options: every name known, every value of its kind.

#include "options.h"

#include <string.h>

#include "value.h"
#include "weir/duration.h"

static bool is_known(const char *name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

static void refuse_name(lua_State *L, const char *const *names)
{
    luaL_Buffer all;
    const char *shown = value_shown(L, -2);
    luaL_buffinit(L, &all);
    for (size_t i = 0; names[i] != NULL; i++) {
        luaL_addstring(&all, i == 0 ? "" : ", ");
        luaL_addstring(&all, names[i]);
    }
    luaL_pushresult(&all);
    luaL_error(L, "%s is no option; the options are %s", shown, lua_tostring(L, -1));
}

void options_check(lua_State *L, const char *const *names)
{
    if (!lua_istable(L, 1)) {
        luaL_error(L, "options was %s; it must be a table", value_shown(L, 1));
    }
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !is_known(lua_tostring(L, -2), names)) {
            refuse_name(L, names);
        }
        lua_pop(L, 1);
    }
}

// Pushes the option. False, and nothing pushed, when it is absent.
static bool push(lua_State *L, const char *name)
{
    lua_pushstring(L, name);
    if (lua_rawget(L, 1) != LUA_TNIL) {
        return true;
    }
    lua_pop(L, 1);
    return false;
}

// "16MiB" and the like. -1 for any other text.
static int64_t read_size(const char *text)
{
    static const struct {
        const char *name;
        int shift;
    } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    int64_t value = 0;
    const char *rest = text;
    while (*rest >= '0' && *rest <= '9' && rest - text < 9) {
        value = value * 10 + (*rest++ - '0');
    }
    for (size_t i = 0; rest > text && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rest, units[i].name) == 0) {
            return value << units[i].shift;
        }
    }
    return -1;
}

int64_t options_size(lua_State *L, const char *name)
{
    if (!push(L, name)) {
        return 0;
    }
    int64_t bytes = -1;
    if (lua_type(L, -1) == LUA_TSTRING) {
        bytes = read_size(value_text(L, -1, name));
    } else if (lua_type(L, -1) == LUA_TNUMBER) {
        bytes = value_whole(L, -1, name, 1, INT64_MAX);
    }
    if (bytes <= 0) {
        luaL_error(L, "%s was %s; it must be a size such as \"16MiB\" (KiB, MiB, GiB) or bytes",
                   name, value_shown(L, -1));
    }
    lua_pop(L, 1);
    return bytes;
}

int64_t options_duration(lua_State *L, const char *name)
{
    if (!push(L, name)) {
        return 0;
    }
    weir_error error;
    int64_t us;
    if (weir_duration_parse(value_text(L, -1, name), name, &us, &error) != WEIR_OK) {
        luaL_error(L, "%s", error.message);
    }
    if (us == 0) {
        luaL_error(L, "%s was %s; it must be at least 1us", name, value_shown(L, -1));
    }
    lua_pop(L, 1);
    return us;
}

int64_t options_whole(lua_State *L, const char *name, int64_t most)
{
    if (!push(L, name)) {
        return 0;
    }
    const int64_t value = value_whole(L, -1, name, 1, most);
    lua_pop(L, 1);
    return value;
}

bool options_flag(lua_State *L, const char *name)
{
    if (!push(L, name)) {
        return false;
    }
    if (!lua_isboolean(L, -1)) {
        luaL_error(L, "%s was %s; it must be true or false", name, value_shown(L, -1));
    }
    const bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
}

// The table keeps the text.
const char *options_text(lua_State *L, const char *name)
{
    if (!push(L, name)) {
        return NULL;
    }
    const char *text = value_text(L, -1, name);
    lua_pop(L, 1);
    return text;
}
