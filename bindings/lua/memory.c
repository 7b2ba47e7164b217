// weir.memory: a store in this process.

#include "weir/memory.h"

#include <lauxlib.h>

#include "answer.h"
#include "options.h"
#include "store.h"
#include "value.h"

// side = false: no logs, slots or leases, and all of the memory for the table.
static void read_side(lua_State *L, weir_memory_options *out)
{
    if (lua_getfield(L, 1, "side") == LUA_TBOOLEAN && !lua_toboolean(L, -1)) {
        out->no_side = true;
    } else {
        out->side_bytes = (size_t)options_size(L, "side");
    }
    lua_pop(L, 1);
}

int memory_open(lua_State *L)
{
    static const char *const names[] = {"size", "side", "clock", NULL};
    weir_memory_options given = {0};
    weir_error error = {.message = ""};
    lua_settop(L, 1);
    if (lua_isnil(L, 1)) {
        lua_newtable(L);
        lua_replace(L, 1);
    }
    options_check(L, names);
    given.size_bytes = (size_t)options_size(L, "size");
    read_side(L, &given);
    weir_store **handle = store_push(L);
    if (lua_getfield(L, 1, "clock") != LUA_TNIL && !lua_isfunction(L, -1)) {
        luaL_error(L, "clock was %s; it must be a function that gives microseconds",
                   value_shown(L, -1));
    }
    store_use_clock(L, 2);
    const weir_status status = weir_memory_open(handle, &given, &error);
    return status == WEIR_OK ? 1 : answer_failure(L, status, &error);
}

static void set_count(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

int memory_counters(lua_State *L)
{
    weir_counters counters;
    weir_error error = {.message = "only a store in memory has counters"};
    const weir_status status = weir_memory_counters(store_at(L, 1), &counters);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    lua_createtable(L, 0, 5);
    set_count(L, "keys", counters.keys);
    set_count(L, "evicted", counters.evicted);
    set_count(L, "allowed", counters.allowed);
    set_count(L, "refused", counters.refused);
    set_count(L, "size_bytes", counters.size_bytes);
    return 1;
}
