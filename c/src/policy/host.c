// What the vocabulary asks of its host: limits, durations, rates and denials.

#include "host.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "instance.h"
#include "limit_object.h"
#include "limit_table.h"

#include "weir/duration.h"

// nil and a sentence: the vocabulary raises it where the policy is wrong.
static int answer_wrong(lua_State *L, const char *message)
{
    lua_pushnil(L);
    lua_pushstring(L, message);
    return 2;
}

// The text at index, which must have no NUL, for functions that take C strings. NULL: it has one.
static const char *plain_text(lua_State *L, int index)
{
    size_t size;
    const char *text = luaL_checklstring(L, index, &size);
    return strlen(text) == size ? text : NULL;
}

static int host_duration(lua_State *L)
{
    weir_error error;
    int64_t us;
    const char *text = plain_text(L, 1);
    if (weir_duration_parse(text, luaL_checkstring(L, 2), &us, &error) != WEIR_OK) {
        return answer_wrong(L, error.message);
    }
    lua_pushinteger(L, us);
    return 1;
}

static int host_rate(lua_State *L)
{
    weir_error error;
    int64_t rate, period_us;
    const char *text = plain_text(L, 1);
    if (weir_rate_parse(text, luaL_checkstring(L, 2), &rate, &period_us, &error) != WEIR_OK) {
        return answer_wrong(L, error.message);
    }
    lua_pushinteger(L, rate);
    lua_pushinteger(L, period_us);
    return 2;
}

// Cut to fit, for it ends in logs and headers.
static int host_deny(lua_State *L)
{
    instance *in = instance_of(L);
    size_t size = 0;
    const char *reason = luaL_optlstring(L, 1, NULL, &size);
    if (in->phase != PHASE_REQUEST) {
        return luaL_error(L, "deny is for the function of the request");
    }
    in->has_reason = reason != NULL;
    size = size < sizeof in->reason ? size : sizeof in->reason - 1;
    for (size_t i = 0; i < size; i++) {
        in->reason[i] = reason[i] < ' ' || reason[i] > '~' ? '?' : reason[i];
    }
    in->reason[size] = '\0';
    lua_pushlightuserdata(L, handle_make(in->call, HANDLE_DENIAL));
    return 1;
}

// The first instance that loads a policy makes its limits; every later one must make the same.
static weir_status register_limit(instance *in, const weir_limit *limit, bool shadow,
                                  size_t *out_index, weir_error *error)
{
    source *s = in->source;
    size_t index = source_find_limit(s, limit);
    if (index < s->limit_count && in->made[index]) {
        snprintf(error->message, sizeof error->message,
                 "there is a limit named '%s' already; stores know a limit by algorithm and name",
                 limit->name);
        return WEIR_INVALID;
    }
    if (index == s->limit_count) {
        if (s->code != NULL) {
            snprintf(error->message, sizeof error->message,
                     "limit '%s' was not there when the policy was loaded first; it must make the "
                     "same limits each time",
                     limit->name);
            return WEIR_INVALID;
        }
        weir_status status = source_add_limit(s, limit, shadow, error);
        if (status != WEIR_OK) {
            return status;
        }
    }
    in->made[index] = true;
    *out_index = index;
    return WEIR_OK;
}

static int host_limit(lua_State *L)
{
    instance *in = instance_of(L);
    weir_limit limit;
    weir_error error;
    size_t index;
    if (in->phase != PHASE_LOAD) {
        return answer_wrong(L, "limits are made while the policy loads, not for a request");
    }
    if (!limit_table_init(L, &limit)) {
        return answer_wrong(L, lua_tostring(L, -1));
    }
    const bool shadow = limit_table_flag(L, "shadow");
    const weir_status status = register_limit(in, &limit, shadow, &index, &error);
    if (status == WEIR_NO_MEMORY) {
        budget_raise(L, BREACH_SYSTEM);
    }
    if (status != WEIR_OK) {
        return answer_wrong(L, error.message);
    }
    limit_object_push(L, index, limit.algorithm == WEIR_CONCURRENCY);
    return 1;
}

void host_push(lua_State *L)
{
    static const luaL_Reg functions[] = {{"limit", host_limit},
                                         {"duration", host_duration},
                                         {"rate", host_rate},
                                         {"deny", host_deny},
                                         {NULL, NULL}};
    luaL_newlib(L, functions);
}
