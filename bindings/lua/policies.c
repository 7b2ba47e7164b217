// Policies: a source and one instance of it, which a program in one thread needs.

#include "policies.h"

#include <lauxlib.h>
#include <string.h>

#include "answer.h"
#include "fields.h"
#include "options.h"
#include "store.h"
#include "value.h"
#include "weir/policy.h"

#define POLICY "weir.policy"

typedef struct policy_handle {
    weir_policy *policy; // NULL: closed
    weir_runner *runner;
    bool busy; // what it holds is being read, and a finalizer that runs then may not change it
} policy_handle;

static policy_handle *idle_at(lua_State *L, int index)
{
    policy_handle *handle = luaL_checkudata(L, index, POLICY);
    if (handle->policy == NULL) {
        luaL_error(L, "the policy is closed");
    }
    if (handle->busy) {
        luaL_error(L, "the policy is in a call already");
    }
    return handle;
}

static void read_options(lua_State *L, weir_policy_options *out)
{
    static const char *const names[] = {"path",       "text",         "name",
                                        "memory",     "instructions", "deadline",
                                        "field_size", "cut_fields",   NULL};
    options_check(L, names);
    out->memory_bytes = (size_t)options_size(L, "memory");
    out->instructions = options_whole(L, "instructions", INT64_MAX);
    out->deadline_us = options_duration(L, "deadline");
    out->field_bytes = (size_t)options_size(L, "field_size");
    out->cut_fields = options_flag(L, "cut_fields");
}

static weir_status open_source(lua_State *L, weir_policy **out, const weir_policy_options *options,
                               weir_error *error)
{
    const char *path = options_text(L, "path");
    const char *name = options_text(L, "name");
    size_t size = 0;
    lua_getfield(L, 1, "text");
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &size) : NULL;
    if (text == NULL && !lua_isnil(L, -1)) {
        luaL_error(L, "text was %s; it must be the text of a policy", value_shown(L, -1));
    }
    if ((path == NULL) == (text == NULL)) {
        luaL_error(L, "a policy has either path or text; %s given",
                   path == NULL ? "neither was" : "both were");
    }
    if (path != NULL && name != NULL) {
        luaL_error(L, "name was %s; it is for text, for path names the policy", name);
    }
    return path != NULL ? weir_policy_open(out, path, options, error)
                        : weir_policy_open_text(out, name != NULL ? name : "policy", text, size,
                                                options, error);
}

int policies_open(lua_State *L)
{
    weir_policy_options options = {0};
    weir_error error = {.message = ""};
    lua_settop(L, 1);
    read_options(L, &options);
    policy_handle *handle = lua_newuserdatauv(L, sizeof *handle, 0);
    *handle = (policy_handle){.policy = NULL};
    luaL_setmetatable(L, POLICY);
    weir_status status = open_source(L, &handle->policy, &options, &error);
    if (status == WEIR_OK) {
        status = weir_runner_open(&handle->runner, handle->policy, &error);
    }
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    lua_settop(L, 2);
    return 1;
}

// request.time at index 3, or what the clock of the store at index 2 says.
static int64_t read_time(lua_State *L)
{
    if (!lua_istable(L, 3)) {
        return 0; // refused where its fields are read
    }
    lua_pushliteral(L, "time");
    lua_rawget(L, 3);
    const int64_t now_us = store_now(L, 2, lua_gettop(L), "request.time");
    lua_pop(L, 1);
    return now_us;
}

static void push_outcome_row(lua_State *L, const weir_outcome *outcome, size_t i)
{
    const weir_check *check = &outcome->checks[i];
    answer_row(L, &outcome->rows[i], 3);
    lua_pushstring(L, check->limit->name);
    lua_setfield(L, -2, "name");
    lua_pushlstring(L, check->key, check->key_size);
    lua_setfield(L, -2, "key");
    lua_pushboolean(L, outcome->shadow[i]);
    lua_setfield(L, -2, "shadow");
}

// The joint row when there were checks that count, the policy's word when there were none.
static int push_outcome(lua_State *L)
{
    const weir_outcome *outcome = lua_touserdata(L, 1);
    if (outcome->binding != NULL) {
        answer_row(L, &outcome->decision, 2);
        lua_pushinteger(L, (lua_Integer)outcome->decision.binding + 1);
        lua_setfield(L, -2, "binding");
    } else {
        lua_createtable(L, 0, 3);
    }
    lua_pushboolean(L, outcome->allowed);
    lua_setfield(L, -2, "allowed");
    lua_pushstring(L, outcome->reason);
    lua_setfield(L, -2, "reason");
    lua_createtable(L, (int)outcome->count, 0);
    for (size_t i = 0; i < outcome->count; i++) {
        push_outcome_row(L, outcome, i);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "rows");
    return 1;
}

// Answers what `push` pushes, given what is at the top of the stack. In a protected call, so that
// the handle is idle again even when memory runs out.
static int answer_busy(lua_State *L, policy_handle *handle, lua_CFunction push, void *given)
{
    lua_pushcfunction(L, push);
    lua_pushlightuserdata(L, given);
    handle->busy = true;
    const int failed = lua_pcall(L, 1, 1, 0);
    handle->busy = false;
    return failed ? lua_error(L) : 1;
}

// policy:decide(store, request)
static int policy_decide(lua_State *L)
{
    weir_outcome outcome;
    weir_error error = {.message = ""};
    idle_at(L, 1);
    store_at(L, 2);
    lua_settop(L, 3);
    fields given = fields_room(L, 3, "request");
    const int64_t time_us = read_time(L);
    fields_read(L, 3, "request", &given);
    policy_handle *handle = idle_at(L, 1);
    const weir_request request = {.fields = given.list, .count = given.count, .time_us = time_us};
    const weir_status status =
        weir_runner_decide(handle->runner, store_at(L, 2), &request, &outcome, &error);
    return status == WEIR_OK ? answer_busy(L, handle, push_outcome, &outcome)
                             : answer_failure(L, status, &error);
}

// policy:respond(store, request, response, allowed)
static int policy_respond(lua_State *L)
{
    weir_error error = {.message = ""};
    idle_at(L, 1);
    store_at(L, 2);
    lua_settop(L, 5);
    if (!lua_isboolean(L, 5)) {
        luaL_error(L, "allowed was %s; it must be true or false", value_shown(L, 5));
    }
    fields given = fields_room(L, 3, "request");
    fields answered = fields_room(L, 4, "response");
    const int64_t time_us = read_time(L);
    fields_read(L, 3, "request", &given);
    fields_read(L, 4, "response", &answered);
    policy_handle *handle = idle_at(L, 1);
    const weir_request request = {.fields = given.list, .count = given.count, .time_us = time_us};
    const weir_status status =
        weir_runner_respond(handle->runner, store_at(L, 2), &request, answered.list, answered.count,
                            lua_toboolean(L, 5), &error);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    lua_pushboolean(L, 1);
    return 1;
}

// policy:reload([text])
static int policy_reload(lua_State *L)
{
    weir_error error = {.message = ""};
    policy_handle *handle = idle_at(L, 1);
    size_t size = 0;
    const char *text = NULL;
    if (!lua_isnoneornil(L, 2)) {
        text = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &size) : NULL;
        if (text == NULL) {
            luaL_error(L, "text was %s; it must be the text of a policy", value_shown(L, 2));
        }
    }
    const weir_status status = text != NULL
                                   ? weir_policy_reload_text(handle->policy, text, size, &error)
                                   : weir_policy_reload(handle->policy, &error);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    lua_pushboolean(L, 1);
    return 1;
}

static int push_limits(lua_State *L)
{
    const weir_limit *const *limits;
    const bool *shadow;
    const policy_handle *handle = lua_touserdata(L, 1);
    const size_t count = weir_policy_limits(handle->policy, &limits, &shadow);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_createtable(L, 0, 4);
        lua_pushstring(L, limits[i]->name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, weir_algorithm_name(limits[i]->algorithm));
        lua_setfield(L, -2, "algorithm");
        lua_pushinteger(L, limits[i]->most);
        lua_setfield(L, -2, "limit");
        lua_pushboolean(L, shadow[i]);
        lua_setfield(L, -2, "shadow");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

// policy:limits(): a list, in the order in which they were made.
static int policy_limits(lua_State *L)
{
    policy_handle *handle = idle_at(L, 1);
    return answer_busy(L, handle, push_limits, handle);
}

static int policy_has_response(lua_State *L)
{
    lua_pushboolean(L, weir_policy_has_response(idle_at(L, 1)->policy));
    return 1;
}

static int policy_close(lua_State *L)
{
    policy_handle *handle = luaL_checkudata(L, 1, POLICY);
    if (handle->busy) {
        luaL_error(L, "the policy is in a call already");
    }
    weir_runner_close(handle->runner);
    weir_policy_close(handle->policy);
    *handle = (policy_handle){.policy = NULL};
    return 0;
}

void policies_register(lua_State *L)
{
    static const luaL_Reg methods[] = {{"decide", policy_decide},
                                       {"respond", policy_respond},
                                       {"reload", policy_reload},
                                       {"limits", policy_limits},
                                       {"has_response", policy_has_response},
                                       {"close", policy_close},
                                       {NULL, NULL}};
    luaL_newmetatable(L, POLICY);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, policy_close);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, policy_close);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}
