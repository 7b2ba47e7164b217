// What the vocabulary asks of its host: limits, durations, rates and denials.

#include "host.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "instance.h"
#include "limit_object.h"

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

// False when an option is a number too large for any; it is named at the top of the stack.
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

static bool read_flag(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
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
    weir_limit_options given = {0};
    weir_limit limit;
    weir_error error;
    size_t index;
    if (in->phase != PHASE_LOAD) {
        return answer_wrong(L, "limits are made while the policy loads, not for a request");
    }
    lua_settop(L, 1);
    lua_getfield(L, 1, "algorithm");
    lua_getfield(L, 1, "name");
    given.name = plain_text(L, 3);
    if (given.name == NULL) {
        return answer_wrong(L, "name has a NUL; it must be 1 to 64 printable ASCII characters");
    }
    if (!read_numbers(L, &given)) {
        lua_pushnil(L);
        lua_rotate(L, -2, 1);
        return 2;
    }
    given.strict = read_flag(L, "strict");
    given.count_denied = read_flag(L, "count_denied");
    weir_status status = weir_algorithm_parse(lua_tostring(L, 2), &given.algorithm, &error);
    if (status == WEIR_OK) {
        status = weir_limit_init(&limit, &given, &error);
    }
    if (status == WEIR_OK) {
        status = register_limit(in, &limit, read_flag(L, "shadow"), &index, &error);
    }
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
