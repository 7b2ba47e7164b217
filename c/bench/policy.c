// A policy's decision beside what any embedding of Lua costs: a protected call that makes a table
// and calls C.
//
// Every figure is a ratio of medians of rounds that were interleaved in this run.

#include "bench.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#include "weir.h"
#include "weir/policy.h"

enum { ROUNDS = 21, CALLS = 100000 };

static void check(weir_status status, const weir_error *error)
{
    if (status != WEIR_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(2);
    }
}

static int note(lua_State *L)
{
    lua_settop(L, 1);
    return 1;
}

static lua_State *open_plain_lua(void)
{
    static const char text[] =
        "local note = ...\n"
        "return function() return note({ user = 'bob', address = '192.0.2.1', method = 'GET' }) "
        "end\n";
    lua_State *L = luaL_newstate();
    if (L == NULL || luaL_loadstring(L, text) != LUA_OK) {
        exit(2);
    }
    lua_pushcfunction(L, note);
    lua_call(L, 1, 1);
    return L;
}

static double time_plain_lua(lua_State *L)
{
    const double start = bench_ns();
    for (int i = 0; i < CALLS; i++) {
        lua_pushvalue(L, 1);
        if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
            exit(2);
        }
        lua_settop(L, 1);
    }
    return (bench_ns() - start) / CALLS;
}

// A decision over the policy, of a request of four fields.
typedef struct subject {
    const char *what;
    weir_policy *policy;
    weir_runner *runner;
    double ns[ROUNDS];
} subject;

static void open_subject(subject *s, const char *what, const char *text)
{
    weir_error error;
    s->what = what;
    check(weir_policy_open_text(&s->policy, what, text, strlen(text), NULL, &error), &error);
    check(weir_runner_open(&s->runner, s->policy, &error), &error);
}

static double time_decide(const subject *s, weir_store *store)
{
    const weir_field fields[] = {
        {.name = "method", .text = "GET", .text_size = 3},
        {.name = "path", .text = "/index.html", .text_size = 11},
        {.name = "address", .text = "192.0.2.1", .text_size = 9},
        {.name = "user", .text = "bob", .text_size = 3},
    };
    const weir_request request = {.fields = fields, .count = 4};
    weir_outcome outcome;
    weir_error error;
    const double start = bench_ns();
    for (int i = 0; i < CALLS; i++) {
        check(weir_runner_decide(s->runner, store, &request, &outcome, &error), &error);
        BENCH_KEEP(outcome.allowed);
    }
    return (bench_ns() - start) / CALLS;
}

int main(void)
{
    static const char none[] = "return function(request) return true end\n";
    static const char one[] = "local weir = require 'weir'\n"
                              "local a = weir.token_bucket { name = 'a', rate = '1000000/s' }\n"
                              "return function(request) return a(request.user) end\n";
    static const char two[] =
        "local weir = require 'weir'\n"
        "local a = weir.token_bucket { name = 'a', rate = '1000000/s' }\n"
        "local b = weir.token_bucket { name = 'b', rate = '1000000/s' }\n"
        "return function(request) return a(request.user), b(request.address) end\n";
    subject subjects[3];
    open_subject(&subjects[0], "true, no limit", none);
    open_subject(&subjects[1], "one limit", one);
    open_subject(&subjects[2], "two limits, at most 5", two);

    weir_store *store;
    weir_error error;
    check(weir_memory_open(&store, NULL, &error), &error);
    lua_State *L = open_plain_lua();
    double plain[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        plain[r] = time_plain_lua(L);
        for (int i = 0; i < 3; i++) {
            subjects[i].ns[r] = time_decide(&subjects[i], store);
        }
    }
    const double base = bench_median(plain, ROUNDS);
    printf("a policy's decision, hot keys, a request of four fields\n"
           "(a protected call into Lua that makes a table of three fields and calls C: %.0f ns)\n",
           base);
    for (int i = 0; i < 3; i++) {
        const double ns = bench_median(subjects[i].ns, ROUNDS);
        printf("  %-28s %5.2f x that call  (%.0f ns)\n", subjects[i].what, ns / base, ns);
        weir_runner_close(subjects[i].runner);
        weir_policy_close(subjects[i].policy);
    }
    lua_close(L);
    weir_store_close(store);
    return 0;
}
