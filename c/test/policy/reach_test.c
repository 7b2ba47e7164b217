// What a policy can reach is a pinned list, so that a newer Lua that brings more is noticed.

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

enum { LINES_MAX = 400, PATH_MAX_BYTES = 200, SEEN_MAX = 400 };

typedef struct walk {
    lua_State *L;
    char lines[LINES_MAX][PATH_MAX_BYTES];
    int line_count;
    const void *seen[SEEN_MAX];
    int seen_count;
} walk;

static const char *kind(lua_State *L, int index)
{
    if (lua_iscfunction(L, index)) {
        return "C function";
    }
    return luaL_typename(L, index);
}

static bool was_seen(walk *w, int index)
{
    const void *at = lua_topointer(w->L, index);
    for (int i = 0; at != NULL && i < w->seen_count; i++) {
        if (w->seen[i] == at) {
            return true;
        }
    }
    assert_true(w->seen_count < SEEN_MAX);
    w->seen[w->seen_count++] = at;
    return false;
}

// The value on top, by its path; metatables too, but those of strings, which are walked once.
static void visit(walk *w, const char *path)
{
    lua_State *L = w->L;
    assert_true(w->line_count < LINES_MAX);
    snprintf(w->lines[w->line_count++], PATH_MAX_BYTES, "%s  %s", path, kind(L, -1));
    const int type = lua_type(L, -1);
    if ((type != LUA_TTABLE && type != LUA_TUSERDATA) || was_seen(w, -1)) {
        return;
    }
    char inner[PATH_MAX_BYTES];
    luaL_checkstack(L, 8, NULL);
    if (lua_getmetatable(L, -1)) {
        snprintf(inner, sizeof inner, "%s<metatable>", path);
        visit(w, inner);
        lua_pop(L, 1);
    }
    if (type != LUA_TTABLE) {
        return;
    }
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        assert_int_equal(lua_type(L, -2), LUA_TSTRING);
        snprintf(inner, sizeof inner, "%s.%s", path, lua_tostring(L, -2));
        visit(w, inner);
        lua_pop(L, 1);
    }
}

static void visit_metatable_of(walk *w, const char *path)
{
    if (lua_getmetatable(w->L, -1)) {
        visit(w, path);
        lua_pop(w->L, 1);
    }
    lua_pop(w->L, 1);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

// Everything starts from what the policy's functions hold, and from the kinds of value it meets.
static void walk_all(walk *w, lua_State *L)
{
    w->L = L;
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    visit(w, "_ENV");
    lua_pop(L, 1);
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, 1, i)) != NULL; i++) {
        visit(w, name);
        lua_pop(L, 1);
    }
    lua_pushliteral(L, "");
    visit_metatable_of(w, "string<metatable>");
    lua_pushlightuserdata(L, NULL);
    visit_metatable_of(w, "handle<metatable>");
    lua_pushboolean(L, 0);
    visit_metatable_of(w, "boolean<metatable>");
    lua_pushinteger(L, 0);
    visit_metatable_of(w, "number<metatable>");
    lua_pushnil(L);
    visit_metatable_of(w, "nil<metatable>");
    lua_pushvalue(L, 1);
    visit_metatable_of(w, "function<metatable>");
    qsort(w->lines, (size_t)w->line_count, PATH_MAX_BYTES, compare);
}

static void c168_reachable_is_the_pinned_list(void **state)
{
    (void)state;
    static const char text[] = "local weir = require 'weir'\n"
                               "local address = require 'weir.address'\n"
                               "local limit = weir.min_gap { name = 'gap', gap = '1s' }\n"
                               "return function(request)\n"
                               "  return limit(weir.address(address(request.user)))\n"
                               "end\n";
    static const source_terms terms = {.budget = {1 << 20, 200000, 50000}, .field_bytes = 8192};
    static walk w;
    source *s;
    instance *in;
    weir_error error;
    assert_int_equal(source_open(&s, "policy.lua", text, strlen(text), &terms, &error), WEIR_OK);
    assert_int_equal(instance_open(&in, s, NULL, 0, &error), WEIR_OK);
    in->budget.terms.memory_bytes = (size_t)16 << 20;
    walk_all(&w, in->L);

    size_t size;
    char *pinned = read_all(WEIR_REACHABLE, &size);
    char *rest = pinned;
    for (int i = 0; i < w.line_count; i++) {
        const char *line = strsep(&rest, "\n");
        if (line == NULL || strcmp(line, w.lines[i]) != 0) {
            fail_msg("%s has \"%s\", but reachable is \"%s\"", WEIR_REACHABLE,
                     line != NULL ? line : "no more", w.lines[i]);
        }
    }
    assert_true(rest == NULL || *rest == '\0');
    free(pinned);
    instance_close(in);
    source_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(c168_reachable_is_the_pinned_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
