// Reading results without running anything of the policy: raw, typed and ranged.
//
// A policy returns checks, or one list of them, or true; false or weir.deny anywhere among them
// refuses, and true beside checks says nothing. Anything else is an error, nil above all: a plan
// that nobody knows must not mean unlimited.

#include "verdict.h"

#include <string.h>

#include "error.h"
#include "handle.h"

static weir_status fail(const instance *in, weir_error *error, const char *what)
{
    return weir_fail(error, WEIR_POLICY,
                     "%s: the policy returned %s; it must return checks, a list of checks, true, "
                     "false or weir.deny(reason)",
                     in->source->title, what);
}

static bool is_same(const weir_check *a, const weir_check *b)
{
    return a->limit == b->limit && a->key_size == b->key_size &&
           memcmp(a->key, b->key, a->key_size) == 0 && a->id_size == b->id_size &&
           (a->id_size == 0 || memcmp(a->id, b->id, a->id_size) == 0);
}

static weir_status add_check(const instance *in, unsigned part, verdict *out, weir_error *error)
{
    const ask *asked = &in->asks[part];
    const weir_check check = instance_check(in, asked);
    for (size_t i = 0; i < out->count; i++) {
        if (is_same(&out->checks[i], &check)) {
            return weir_fail(error, WEIR_POLICY,
                             "%s: the policy returned limit '%s' twice with the same key",
                             in->source->title, check.limit->name);
        }
    }
    out->checks[out->count] = check;
    out->shadow[out->count] = in->source->shadow[asked->limit];
    out->has_shadow |= out->shadow[out->count];
    out->count++;
    return WEIR_OK;
}

// A check or a denial of this call.
static weir_status read_handle(const instance *in, const void *handle, verdict *out,
                               weir_error *error)
{
    if (handle_call(handle) != in->call) {
        return fail(in, error, "a check that was made for another request");
    }
    const unsigned part = handle_part(handle);
    if (part == HANDLE_DENIAL) {
        out->refused = true;
        return WEIR_OK;
    }
    if (part >= in->ask_count) {
        return fail(in, error, "the request itself");
    }
    return add_check(in, part, out, error);
}

static weir_status read_value(const instance *in, int index, verdict *out, weir_error *error)
{
    switch (lua_type(in->L, index)) {
    case LUA_TLIGHTUSERDATA:
        return read_handle(in, lua_touserdata(in->L, index), out, error);
    case LUA_TBOOLEAN:
        out->refused |= !lua_toboolean(in->L, index);
        return WEIR_OK;
    case LUA_TNIL:
        return fail(in, error, "nil");
    case LUA_TUSERDATA:
        return fail(in, error, "a limit, which must be called with a key");
    default:
        return fail(in, error, lua_typename(in->L, lua_type(in->L, index)));
    }
}

// How many values the table has, up to what can be a list.
static size_t count_values(lua_State *L, int index)
{
    size_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (++count > WEIR_CHECKS_MAX) {
            lua_pop(L, 1);
            break;
        }
    }
    return count;
}

static weir_status read_list(instance *in, int index, verdict *out, weir_error *error)
{
    lua_State *L = in->L;
    const size_t count = count_values(L, index);
    if (count == 0) {
        return fail(in, error, "an empty table");
    }
    if (count > WEIR_CHECKS_MAX) {
        return fail(in, error, "a list of too many values");
    }
    weir_status status = WEIR_OK;
    for (size_t i = 1; i <= count && status == WEIR_OK; i++) {
        if (lua_rawgeti(L, index, (lua_Integer)i) == LUA_TNIL) {
            status = fail(in, error, "a table that is not a list");
        } else if (lua_type(L, -1) == LUA_TTABLE) {
            status = fail(in, error, "a list within a list");
        } else {
            status = read_value(in, -1, out, error);
        }
        lua_pop(L, 1);
    }
    return status;
}

weir_status verdict_read(instance *in, verdict *out, weir_error *error)
{
    lua_State *L = in->L;
    const int last = lua_gettop(L);
    out->refused = false;
    out->has_shadow = false;
    out->count = 0;
    if (last == INSTANCE_BASE) {
        return fail(in, error, "nothing");
    }
    if (last - INSTANCE_BASE > WEIR_CHECKS_MAX || !lua_checkstack(L, 3)) {
        return fail(in, error, "too many values");
    }
    if (last == INSTANCE_BASE + 1 && lua_istable(L, last)) {
        return read_list(in, last, out, error);
    }
    for (int i = INSTANCE_BASE + 1; i <= last; i++) {
        const weir_status status = read_value(in, i, out, error);
        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}
