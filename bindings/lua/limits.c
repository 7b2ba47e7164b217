// Limits as weir.vocabulary hands them out: prepared once, then plain data.

#include "limits.h"

#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

#include "limit_table.h"
#include "value.h"
#include "weir/duration.h"

#define LIMIT "weir.limit"
#define CHECK "weir.check"

// A check with the bytes that it points to. Its user value is the limit.
typedef struct kept_check {
    weir_check check;
    char bytes[];
} kept_check;

// nil and a sentence, which the vocabulary raises where its caller is.
static int answer_wrong(lua_State *L, const weir_error *error)
{
    lua_pushnil(L);
    lua_pushstring(L, error->message);
    return 2;
}

static int host_duration(lua_State *L)
{
    weir_error error;
    int64_t us;
    const char *field = luaL_checkstring(L, 2);
    if (weir_duration_parse(value_text(L, 1, field), field, &us, &error) != WEIR_OK) {
        return answer_wrong(L, &error);
    }
    lua_pushinteger(L, us);
    return 1;
}

static int host_rate(lua_State *L)
{
    weir_error error;
    int64_t rate, period_us;
    const char *field = luaL_checkstring(L, 2);
    if (weir_rate_parse(value_text(L, 1, field), field, &rate, &period_us, &error) != WEIR_OK) {
        return answer_wrong(L, &error);
    }
    lua_pushinteger(L, rate);
    lua_pushinteger(L, period_us);
    return 2;
}

static int host_limit(lua_State *L)
{
    weir_limit limit;
    if (limit_table_flag(L, "shadow")) {
        lua_pushnil(L);
        lua_pushliteral(L, "shadow was true; only a policy has limits in shadow");
        return 2;
    }
    if (!limit_table_init(L, &limit)) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    weir_limit *kept = lua_newuserdatauv(L, sizeof *kept, 0);
    *kept = limit;
    luaL_setmetatable(L, LIMIT);
    return 1;
}

void limits_read(lua_State *L, int index, unsigned bits, weir_check *out)
{
    *out = (weir_check){.limit = luaL_checkudata(L, index, LIMIT)};
    out->key = value_bytes(L, index + 1, "key", &out->key_size);
    if (out->limit->algorithm == WEIR_CONCURRENCY) {
        const bool lacks = (bits & ID_MAY_LACK) && lua_isnoneornil(L, index + 2);
        if ((bits & READ_ID) && !lacks) {
            out->id = value_bytes(L, index + 2, "id", &out->id_size);
        }
    } else if (bits & READ_COST) {
        out->cost =
            lua_isnoneornil(L, index + 2) ? 1 : value_whole(L, index + 2, "cost", 0, WEIR_COST_MAX);
    }
}

// limit(key[, cost or id])
static int limit_call(lua_State *L)
{
    weir_check given;
    lua_settop(L, 3);
    limits_read(L, 1, READ_COST | READ_ID, &given);
    kept_check *kept = lua_newuserdatauv(L, sizeof *kept + given.key_size + given.id_size, 1);
    memcpy(kept->bytes, given.key, given.key_size);
    if (given.id_size > 0) {
        memcpy(kept->bytes + given.key_size, given.id, given.id_size);
    }
    kept->check = given;
    kept->check.key = kept->bytes;
    kept->check.id = given.id_size > 0 ? kept->bytes + given.key_size : NULL;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, CHECK);
    return 1;
}

const weir_check *limits_check_at(lua_State *L, int index, int place)
{
    const kept_check *kept = luaL_testudata(L, index, CHECK);
    if (kept == NULL) {
        luaL_error(L, "checks[%d] was %s; it must be a check, which limit(key, cost) makes", place,
                   value_shown(L, index));
    }
    return &kept->check;
}

bool limits_test(lua_State *L, int index, weir_check *out)
{
    const weir_limit *limit = luaL_testudata(L, index, LIMIT);
    const kept_check *kept = luaL_testudata(L, index, CHECK);
    *out = kept != NULL ? kept->check : (weir_check){.limit = limit};
    return out->limit != NULL;
}

// limit.name, limit.algorithm, and limit.limit: the most at one instant.
static int limit_index(lua_State *L)
{
    const weir_limit *limit = luaL_checkudata(L, 1, LIMIT);
    const char *field = luaL_checkstring(L, 2);
    if (strcmp(field, "name") == 0) {
        lua_pushstring(L, limit->name);
    } else if (strcmp(field, "algorithm") == 0) {
        lua_pushstring(L, weir_algorithm_name(limit->algorithm));
    } else if (strcmp(field, "limit") == 0) {
        lua_pushinteger(L, limit->most);
    } else {
        luaL_error(L, "a limit has name, algorithm and limit, and no %s; verbs are the store's",
                   value_shown(L, 2));
    }
    return 1;
}

static int limit_tostring(lua_State *L)
{
    const weir_limit *limit = luaL_checkudata(L, 1, LIMIT);
    lua_pushfstring(L, "%s \"%s\"", weir_algorithm_name(limit->algorithm), limit->name);
    return 1;
}

void limits_push_host(lua_State *L)
{
    static const luaL_Reg metamethods[] = {{"__call", limit_call},
                                           {"__index", limit_index},
                                           {"__tostring", limit_tostring},
                                           {NULL, NULL}};
    static const luaL_Reg host[] = {
        {"limit", host_limit}, {"duration", host_duration}, {"rate", host_rate}, {NULL, NULL}};
    luaL_newmetatable(L, LIMIT);
    luaL_setfuncs(L, metamethods, 0);
    luaL_newmetatable(L, CHECK);
    lua_pop(L, 2);
    luaL_newlib(L, host);
}
