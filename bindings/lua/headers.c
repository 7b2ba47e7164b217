// weir.headers: rows as a store answers them, back into decisions, and what they tell as a table.

#include "headers.h"

#include <lauxlib.h>
#include <string.h>

#include "answer.h"
#include "limits.h"
#include "options.h"
#include "value.h"
#include "weir/headers.h"
#include "weir/store.h"

enum { LIMITS = 1, DECISION, ROWS, OPTIONS, ARGUMENTS = OPTIONS, KEPT };

typedef struct given {
    weir_decision decision;
    weir_check checks[WEIR_CHECKS_MAX];
    weir_decision rows[WEIR_CHECKS_MAX];
    bool shadow[WEIR_CHECKS_MAX];
    const char *units[WEIR_CHECKS_MAX];
    size_t count;
    weir_headers_options options;
} given;

// Keeps the value at the top until the function returns, for C points into it, and a finalizer may
// take it out of the table that it came from.
static void keep(lua_State *L)
{
    lua_pushvalue(L, -1);
    lua_rawseti(L, KEPT, (lua_Integer)lua_rawlen(L, KEPT) + 1);
}

static int raw_field(lua_State *L, int table, const char *name)
{
    lua_pushstring(L, name);
    return lua_rawget(L, table);
}

// The field, or for nil what it is then.
static int64_t read_whole(lua_State *L, int table, const char *what, const char *name,
                          int64_t least, int64_t most, const int64_t *otherwise)
{
    int64_t value;
    if (raw_field(L, table, name) == LUA_TNIL && otherwise != NULL) {
        value = *otherwise;
    } else {
        const char *place = lua_pushfstring(L, "%s.%s", what, name);
        value = value_whole(L, -2, place, least, most);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return value;
}

static weir_source read_source(lua_State *L, int table, const char *what)
{
    static const char *const names[] = {"store", "deny_on_error", "allow_on_error", NULL};
    int source = WEIR_SOURCE_STORE;
    if (raw_field(L, table, "source") != LUA_TNIL) {
        const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
        while (names[source] != NULL && strcmp(name, names[source]) != 0) {
            source++;
        }
        if (names[source] == NULL) {
            luaL_error(L, "%s.source was %s; it must be store, deny_on_error or allow_on_error",
                       what, value_shown(L, -1));
        }
    }
    lua_pop(L, 1);
    return (weir_source)source;
}

static bool read_flag(lua_State *L, int table, const char *name)
{
    raw_field(L, table, name);
    const bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
}

static void check_is_row(lua_State *L, int index, const char *what)
{
    if (!lua_istable(L, index) || raw_field(L, index, "allowed") != LUA_TBOOLEAN) {
        luaL_error(L, "%s was %s; it must be what a store answers, with `allowed`", what,
                   value_shown(L, index));
    }
    lua_pop(L, 1);
}

static weir_decision read_row(lua_State *L, int index, const char *what)
{
    check_is_row(L, index, what);
    return (weir_decision){
        .allowed = read_flag(L, index, "allowed"),
        .limit = read_whole(L, index, what, "limit", 0, INT64_MAX, NULL),
        .remaining = read_whole(L, index, what, "remaining", 0, INT64_MAX, NULL),
        .retry_after_us = read_whole(L, index, what, "retry_after_us", WEIR_NEVER, INT64_MAX, NULL),
        .reset_after_us = read_whole(L, index, what, "reset_after_us", 0, INT64_MAX, NULL),
        .source = read_source(L, index, what),
    };
}

// What of a decision is of all its checks. Without a check it has no wait.
static weir_decision read_joint(lua_State *L, size_t count)
{
    static const int64_t none = 0, first = 1;
    check_is_row(L, DECISION, "decision");
    return (weir_decision){
        .allowed = read_flag(L, DECISION, "allowed"),
        .retry_after_us = read_whole(L, DECISION, "decision", "retry_after_us", WEIR_NEVER,
                                     INT64_MAX, count == 0 ? &none : NULL),
        .binding =
            (size_t)read_whole(L, DECISION, "decision", "binding", 1, WEIR_CHECKS_MAX, &first) - 1,
        .source = read_source(L, DECISION, "decision"),
    };
}

// Puts a list in place of one limit, so that what follows knows lists alone.
static void list_limits(lua_State *L)
{
    weir_check check;
    if (limits_test(L, LIMITS, &check)) {
        lua_createtable(L, 1, 0);
        lua_pushvalue(L, LIMITS);
        lua_rawseti(L, -2, 1);
        lua_replace(L, LIMITS);
    }
    if (!lua_istable(L, LIMITS)) {
        luaL_error(L, "limits was %s; it must be a limit, or a list of limits or checks",
                   value_shown(L, LIMITS));
    }
}

// Likewise one row from take, which is the decision itself.
static void list_rows(lua_State *L, size_t count)
{
    if (lua_isnil(L, ROWS) && count <= 1) {
        lua_createtable(L, 1, 0);
        if (count == 1) {
            lua_pushvalue(L, DECISION);
            lua_rawseti(L, -2, 1);
        }
        lua_replace(L, ROWS);
    }
    if (!lua_istable(L, ROWS) || lua_rawlen(L, ROWS) != count) {
        luaL_error(L, "rows was %s; it must be a list of one row a limit", value_shown(L, ROWS));
    }
}

// A row in shadow may be without an answer, and is not told.
static void read_check(lua_State *L, given *out, size_t i)
{
    lua_rawgeti(L, LIMITS, (lua_Integer)i + 1);
    if (!limits_test(L, -1, &out->checks[i])) {
        luaL_error(L, "limits[%d] was %s; it must be a limit, or a check, which limit(key) makes",
                   (int)i + 1, value_shown(L, -1));
    }
    keep(L);
    lua_rawgeti(L, ROWS, (lua_Integer)i + 1);
    const int row = lua_gettop(L);
    const char *what = lua_pushfstring(L, "rows[%d]", (int)i + 1);
    out->shadow[i] = lua_istable(L, row) && read_flag(L, row, "shadow");
    if (!out->shadow[i]) {
        out->rows[i] = read_row(L, row, what);
    }
    lua_pop(L, 3);
}

static void read_units(lua_State *L, given *out)
{
    if (raw_field(L, OPTIONS, "units") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    const int units = lua_gettop(L);
    if (!lua_istable(L, units)) {
        luaL_error(L, "units was %s; it must be a table of units by the names of limits",
                   value_shown(L, units));
    }
    for (size_t i = 0; i < out->count; i++) {
        const char *name = out->checks[i].limit->name;
        const char *what = lua_pushfstring(L, "unit of limit \"%s\"", name);
        const bool has_unit = raw_field(L, units, name) != LUA_TNIL;
        out->units[i] = has_unit ? value_text(L, -1, what) : NULL;
        keep(L);
        lua_pop(L, 2);
    }
    lua_pop(L, 1);
    out->options.units = out->units;
}

// A function of its own, for options are read at index 1. At 2 is where they go.
static int read_options(lua_State *L)
{
    static const char *const names[] = {"form", "body", "units", "partition_key", "now_us", NULL};
    weir_headers_options *out = lua_touserdata(L, 2);
    weir_error error;
    options_check(L, names);
    const char *form = options_text(L, "form");
    if (form != NULL && weir_headers_form_parse(form, &out->form, &error) != WEIR_OK) {
        luaL_error(L, "%s", error.message);
    }
    out->body = options_flag(L, "body");
    out->partition_key = options_flag(L, "partition_key");
    out->now_us = options_whole(L, "now_us", WEIR_NOW_MAX);
    return 0;
}

static void read_given(lua_State *L, given *out)
{
    list_limits(L);
    out->count = lua_rawlen(L, LIMITS);
    if (out->count > WEIR_CHECKS_MAX) {
        luaL_error(L, "the number of limits was %I; it must be at most %d", (LUAI_UACINT)out->count,
                   WEIR_CHECKS_MAX);
    }
    out->decision = read_joint(L, out->count);
    list_rows(L, out->count);
    for (size_t i = 0; i < out->count; i++) {
        read_check(L, out, i);
    }
    out->options = (weir_headers_options){.shadow = out->shadow};
    if (!lua_isnil(L, OPTIONS)) {
        lua_pushcfunction(L, read_options);
        lua_pushvalue(L, OPTIONS);
        lua_pushlightuserdata(L, &out->options);
        lua_call(L, 2, 0);
        read_units(L, out);
    }
}

static void push_answer(lua_State *L, const weir_headers *headers)
{
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, headers->status);
    lua_setfield(L, -2, "status");
    lua_createtable(L, 0, (int)headers->count);
    for (size_t i = 0; i < headers->count; i++) {
        lua_pushlstring(L, headers->list[i].value, headers->list[i].value_size);
        lua_setfield(L, -2, headers->list[i].name);
    }
    lua_setfield(L, -2, "headers");
    if (headers->body != NULL) {
        lua_pushlstring(L, headers->body, headers->body_size);
        lua_setfield(L, -2, "body");
        lua_pushstring(L, headers->content_type);
        lua_setfield(L, -2, "content_type");
    }
}

// weir.headers(limits, decision[, rows[, options]])
int headers_of(lua_State *L)
{
    given in;
    weir_headers out;
    weir_error error = {.message = ""};
    lua_settop(L, ARGUMENTS);
    lua_createtable(L, WEIR_CHECKS_MAX, 0);
    read_given(L, &in);
    const weir_status status =
        weir_headers_init(&out, &in.decision, in.checks, in.rows, in.count, &in.options, &error);
    if (status != WEIR_OK) {
        return answer_failure(L, status, &error);
    }
    push_answer(L, &out);
    return 1;
}
