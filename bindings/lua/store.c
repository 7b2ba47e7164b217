// The verbs of a store, one function each over the C interface.

#include "store.h"

#include <lauxlib.h>

#include "answer.h"
#include "limits.h"
#include "value.h"

#define STORE "weir.store"

typedef weir_status verb(weir_store *store, const weir_check *check, int64_t now_us,
                         weir_decision *out, weir_error *error);

// The handle's user value is its clock, a function, or nil.
weir_store **store_push(lua_State *L)
{
    weir_store **handle = lua_newuserdatauv(L, sizeof *handle, 1);
    *handle = NULL;
    luaL_setmetatable(L, STORE);
    return handle;
}

void store_use_clock(lua_State *L, int index)
{
    lua_setiuservalue(L, index, 1);
}

weir_store *store_at(lua_State *L, int index)
{
    weir_store **handle = luaL_checkudata(L, index, STORE);
    if (*handle == NULL) {
        luaL_error(L, "the store is closed");
    }
    return *handle;
}

int64_t store_now(lua_State *L, int index, int now_index, const char *what)
{
    if (!lua_isnoneornil(L, now_index)) {
        return value_whole(L, now_index, what, 1, WEIR_NOW_MAX);
    }
    if (lua_getiuservalue(L, index, 1) == LUA_TNIL) {
        lua_pop(L, 1);
        return 0;
    }
    lua_call(L, 0, 1);
    const int64_t now_us = value_whole(L, -1, "what the clock said", 1, WEIR_NOW_MAX);
    lua_pop(L, 1);
    return now_us;
}

// store:verb(limit, key[, cost or id[, now_us]])
static int step(lua_State *L, verb *ask, unsigned bits)
{
    weir_check check;
    weir_decision row;
    weir_error error = {.message = ""};
    store_at(L, 1);
    lua_settop(L, 5);
    limits_read(L, 2, bits, &check);
    const int64_t now_us = store_now(L, 1, 5, "now_us");
    const weir_status status = ask(store_at(L, 1), &check, now_us, &row, &error);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    answer_row(L, &row, 0);
    return 1;
}

static int store_take(lua_State *L)
{
    return step(L, weir_store_take, READ_COST | READ_ID);
}

static int store_peek(lua_State *L)
{
    return step(L, weir_store_peek, READ_COST | READ_ID | ID_MAY_LACK);
}

static int store_refund(lua_State *L)
{
    return step(L, weir_store_refund, READ_COST);
}

static int store_charge(lua_State *L)
{
    return step(L, weir_store_charge, READ_COST);
}

static int store_acquire(lua_State *L)
{
    return step(L, weir_store_acquire, READ_ID);
}

static int store_renew(lua_State *L)
{
    return step(L, weir_store_renew, READ_ID);
}

static int store_release(lua_State *L)
{
    return step(L, weir_store_release, READ_ID);
}

static int store_reset(lua_State *L)
{
    weir_check check;
    weir_error error = {.message = ""};
    weir_store *store = store_at(L, 1);
    lua_settop(L, 3);
    limits_read(L, 2, 0, &check);
    const weir_status status = weir_store_reset(store, &check, &error);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    lua_pushboolean(L, 1);
    return 1;
}

// A list of checks at index 2, and where their answers go.
typedef struct batch {
    size_t count;
    weir_check *checks; // owned by Lua, on the stack; so are the rows
    weir_decision *rows;
} batch;

static batch read_batch(lua_State *L)
{
    store_at(L, 1);
    lua_settop(L, 3);
    if (!lua_istable(L, 2)) {
        luaL_error(L, "checks was %s; it must be a list of checks", value_shown(L, 2));
    }
    batch b = {.count = lua_rawlen(L, 2)};
    if (b.count > SIZE_MAX / 2 / sizeof *b.checks) {
        luaL_error(L, "checks are too many");
    }
    b.checks = lua_newuserdatauv(L, b.count * sizeof *b.checks + 1, 0);
    b.rows = lua_newuserdatauv(L, b.count * sizeof *b.rows + 1, 0);
    // The copies point into the checks, which must outlive a clock that changes the list.
    lua_createtable(L, (int)b.count, 0);
    for (size_t i = 0; i < b.count; i++) {
        lua_rawgeti(L, 2, (lua_Integer)i + 1);
        b.checks[i] = *limits_check_at(L, -1, (int)i + 1);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return b;
}

// Pushes the rows as a list.
static void push_rows(lua_State *L, const batch *b)
{
    lua_createtable(L, (int)b->count, 0);
    for (size_t i = 0; i < b->count; i++) {
        answer_row(L, &b->rows[i], 0);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

// store:take_all({ check, ... }[, now_us])
static int store_take_all(lua_State *L)
{
    weir_decision joint;
    weir_error error = {.message = ""};
    const batch b = read_batch(L);
    const int64_t now_us = store_now(L, 1, 3, "now_us");
    const weir_status status =
        weir_store_take_all(store_at(L, 1), b.checks, b.count, now_us, &joint, b.rows, &error);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    answer_row(L, &joint, 2);
    lua_pushinteger(L, (lua_Integer)joint.binding + 1);
    lua_setfield(L, -2, "binding");
    push_rows(L, &b);
    lua_setfield(L, -2, "rows");
    return 1;
}

// store:take_many({ check, ... }[, now_us])
static int store_take_many(lua_State *L)
{
    weir_error error = {.message = ""};
    const batch b = read_batch(L);
    const int64_t now_us = store_now(L, 1, 3, "now_us");
    // Each row has its own status.
    weir_store_take_many(store_at(L, 1), b.checks, b.count, now_us, b.rows, &error);
    push_rows(L, &b);
    return 1;
}

static int store_now_us(lua_State *L)
{
    weir_store *store = store_at(L, 1);
    lua_settop(L, 1);
    const int64_t now_us = store_now(L, 1, 2, "now_us");
    lua_pushinteger(L, now_us != 0 ? now_us : weir_store_now_us(store));
    return 1;
}

static int store_close(lua_State *L)
{
    weir_store **handle = luaL_checkudata(L, 1, STORE);
    weir_store_close(*handle);
    *handle = NULL;
    return 0;
}

void store_register(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"take", store_take},           {"take_all", store_take_all},
        {"take_many", store_take_many}, {"peek", store_peek},
        {"refund", store_refund},       {"charge", store_charge},
        {"reset", store_reset},         {"acquire", store_acquire},
        {"renew", store_renew},         {"release", store_release},
        {"now_us", store_now_us},       {"counters", memory_counters},
        {"close", store_close},         {NULL, NULL}};
    luaL_newmetatable(L, STORE);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, store_close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, store_close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}
