// Limits as a policy sees them: called to make checks, asked and settled by their methods.

#include "limit_object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handle.h"
#include "instance.h"

typedef struct limit_object {
    size_t index; // in the source
    bool is_concurrency;
} limit_object;

static const char limit_metatable;

static const char *name_of(lua_State *L, const limit_object *limit)
{
    return instance_of(L)->source->limits[limit->index]->name;
}

// Whole numbers are written out exactly. False when the number is not one.
static bool keep_number(lua_State *L, instance *in, int index, size_t *at, size_t *size)
{
    int whole;
    const lua_Integer value = lua_tointegerx(L, index, &whole);
    if (!whole) {
        return false;
    }
    char digits[24];
    *size = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value);
    *at = instance_keep(in, digits, *size);
    return true;
}

_Noreturn static void refuse_text(lua_State *L, const limit_object *limit, int index,
                                  const char *what)
{
    const char *name = name_of(L, limit);
    if (lua_type(L, index) == LUA_TSTRING) {
        luaL_error(L, "limit '%s': the %s is empty; it must have at least one byte", name, what);
    }
    // nil, message: what weir.address and the like answer.
    if (lua_isnil(L, index) && lua_type(L, index + 1) == LUA_TSTRING) {
        luaL_error(L, "limit '%s': the %s is nil: %s", name, what, lua_tostring(L, index + 1));
    }
    if (lua_type(L, index) == LUA_TNUMBER) {
        luaL_error(L, "limit '%s': the %s is %f; it must be text or a whole number", name, what,
                   lua_tonumber(L, index));
    }
    luaL_error(L, "limit '%s': the %s is %s; it must be text or a whole number", name, what,
               lua_isboolean(L, index) ? (lua_toboolean(L, index) ? "true" : "false")
                                       : luaL_typename(L, index));
    abort(); // luaL_error does not return
}

// The key or id at index.
static void keep_text(lua_State *L, instance *in, const limit_object *limit, int index,
                      const char *what, size_t *at, size_t *size)
{
    const int type = lua_type(L, index);
    if (type == LUA_TSTRING) {
        const char *text = lua_tolstring(L, index, size);
        if (*size > 0) {
            *at = instance_keep(in, text, *size);
            return;
        }
    } else if (type == LUA_TNUMBER && keep_number(L, in, index, at, size)) {
        return;
    }
    refuse_text(L, limit, index, what);
}

// 1 unless said.
static int64_t read_cost(lua_State *L, const limit_object *limit, int index)
{
    const int type = lua_type(L, index);
    if (type == LUA_TNUMBER) {
        int whole;
        const lua_Integer cost = lua_tointegerx(L, index, &whole);
        if (whole && cost >= 0 && cost <= WEIR_COST_MAX) {
            return cost;
        }
    } else if (type <= LUA_TNIL) {
        return 1;
    }
    const char *was = type == LUA_TNUMBER || type == LUA_TSTRING ? luaL_tolstring(L, index, NULL)
                                                                 : luaL_typename(L, index);
    luaL_error(L, "limit '%s': the cost was %s%s; it must be a whole number from 0 to %I",
               name_of(L, limit), type == LUA_TSTRING ? "the text " : "", was,
               (LUAI_UACINT)WEIR_COST_MAX);
    return 0;
}

// limit, key and what comes with it, from the stack: an id for concurrency, else a cost.
static void read_ask(lua_State *L, instance *in, const limit_object *limit, ask *out)
{
    out->limit = limit->index;
    keep_text(L, in, limit, 2, "key", &out->key, &out->key_size);
    out->id_size = 0;
    out->cost = 1;
    if (limit->is_concurrency) {
        keep_text(L, in, limit, 3, "id", &out->id, &out->id_size);
    } else {
        out->cost = read_cost(L, limit, 3);
    }
}

static ask *next_ask(lua_State *L, instance *in)
{
    if (in->ask_count == WEIR_CHECKS_MAX) {
        luaL_error(L, "more than %d checks in one call", WEIR_CHECKS_MAX);
    }
    return &in->asks[in->ask_count];
}

// limit(key[, cost]): a check. As a metamethod it is only ever called with a limit.
static int limit_call(lua_State *L)
{
    instance *in = instance_of(L);
    const limit_object *limit = lua_touserdata(L, 1);
    if (in->phase != PHASE_REQUEST) {
        return luaL_error(L, "limit '%s': checks are for the function of the request",
                          name_of(L, limit));
    }
    read_ask(L, in, limit, next_ask(L, in));
    lua_pushlightuserdata(L, handle_make(in->call, (unsigned)in->ask_count));
    in->ask_count++;
    return 1;
}

// Every full userdata that a policy can reach is a limit.
static const limit_object *check_limit(lua_State *L, const char *method)
{
    if (lua_type(L, 1) != LUA_TUSERDATA) {
        luaL_error(L, "%s is a method: call limit:%s(...)", method, method);
    }
    return lua_touserdata(L, 1);
}

static void set_integer(lua_State *L, const char *name, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

// limit:peek(key[, cost]): a row, as a table.
static int limit_peek(lua_State *L)
{
    instance *in = instance_of(L);
    const limit_object *limit = check_limit(L, "peek");
    if (in->phase == PHASE_LOAD) {
        return luaL_error(L, "limit '%s': peek is for a request", name_of(L, limit));
    }
    if (in->subject.store == NULL) {
        return luaL_error(L, "limit '%s': peek needs a store in this process, and there is none",
                          name_of(L, limit));
    }
    budget_charge(L, 20);
    const size_t used = in->text_used;
    ask asked = {.limit = limit->index};
    keep_text(L, in, limit, 2, "key", &asked.key, &asked.key_size);
    if (!limit->is_concurrency) {
        asked.cost = read_cost(L, limit, 3);
    } else if (!lua_isnoneornil(L, 3)) {
        keep_text(L, in, limit, 3, "id", &asked.id, &asked.id_size);
    }
    const weir_check check = instance_check(in, &asked);
    weir_decision row;
    weir_error error = {.message = ""};
    const weir_status status =
        weir_store_peek(in->subject.store, &check, instance_now_us(in), &row, &error);
    in->text_used = used;
    if (status != WEIR_OK) {
        in->peek_status = status;
        return luaL_error(L, "%s",
                          error.message[0] != '\0' ? error.message : weir_status_meaning(status));
    }
    lua_createtable(L, 0, 6);
    lua_pushboolean(L, row.allowed);
    lua_setfield(L, -2, "allowed");
    set_integer(L, "limit", row.limit);
    set_integer(L, "remaining", row.remaining);
    set_integer(L, "retry_after_us", row.retry_after_us);
    set_integer(L, "reset_after_us", row.reset_after_us);
    set_integer(L, "delay_us", row.delay_us);
    return 1;
}

// What is to be done when the function of the response has returned.
static int record(lua_State *L, weir_settle_verb verb, const char *method)
{
    instance *in = instance_of(L);
    const limit_object *limit = check_limit(L, method);
    if (in->phase != PHASE_RESPONSE) {
        return luaL_error(L, "limit '%s': %s is for the function of the response",
                          name_of(L, limit), method);
    }
    if ((verb == WEIR_SETTLE_RELEASE) != limit->is_concurrency) {
        return luaL_error(L, "limit '%s': %s", name_of(L, limit),
                          limit->is_concurrency ? "a concurrency limit has release alone"
                                                : "only a concurrency limit has release");
    }
    ask *asked = next_ask(L, in);
    asked->verb = verb;
    read_ask(L, in, limit, asked);
    in->ask_count++;
    return 0;
}

static int limit_refund(lua_State *L)
{
    return record(L, WEIR_SETTLE_REFUND, "refund");
}

static int limit_charge(lua_State *L)
{
    return record(L, WEIR_SETTLE_CHARGE, "charge");
}

static int limit_release(lua_State *L)
{
    return record(L, WEIR_SETTLE_RELEASE, "release");
}

static int limit_newindex(lua_State *L)
{
    return luaL_error(L, "limit '%s' can't be changed", name_of(L, lua_touserdata(L, 1)));
}

void limit_object_open(lua_State *L)
{
    static const luaL_Reg methods[] = {{"peek", limit_peek},
                                       {"refund", limit_refund},
                                       {"charge", limit_charge},
                                       {"release", limit_release},
                                       {NULL, NULL}};
    static const luaL_Reg metamethods[] = {
        {"__call", limit_call}, {"__newindex", limit_newindex}, {NULL, NULL}};
    luaL_newlib(L, metamethods);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushliteral(L, "limit");
    lua_setfield(L, -2, "__name");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &limit_metatable);
}

void limit_object_push(lua_State *L, size_t index, bool is_concurrency)
{
    limit_object *object = lua_newuserdatauv(L, sizeof *object, 0);
    *object = (limit_object){index, is_concurrency};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &limit_metatable);
    lua_setmetatable(L, -2);
}
