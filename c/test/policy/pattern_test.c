// The counted patterns answer what Lua's answer, on random texts and patterns, wrong ones too.

#include "support.h"

#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

#include "budget.h"
#include "sandbox.h"

static const char compare_text[] =
    "local pieces = { 'a', 'b', '%a', '%w', '.', '[ab]', '[^a]', '[a-c]', '%1', '(', ')', '()',\n"
    "  '*', '+', '-', '?', '^', '$', '%f[a]', '%b()', '%', '[', 'x', '%s', '%d', '%%', '[%a]',\n"
    "  '[]a]', '%2', '.-', '.*', '\\0' }\n"
    "local letters = { 'a', 'b', 'c', 'x', '(', ')', ' ', '1', '\\0', '%', '-' }\n"
    "local replacements = { '%0', '<%1>', '%2', '%%', 'x', '', '%0%0' }\n"
    "local function pick(from, most)\n"
    "  local made = {}\n"
    "  for i = 1, math.random(0, most) do made[i] = from[math.random(#from)] end\n"
    "  return table.concat(made)\n"
    "end\n"
    "local function describe(...) return select('#', ...) .. tostring((...)) end\n"
    "local function compare(theirs, ours, ...)\n"
    "  local a, b = table.pack(pcall(theirs, ...)), table.pack(pcall(ours, ...))\n"
    "  local same = a.n == b.n and a[1] == b[1]\n"
    "  for i = 2, a[1] and a.n or 1 do same = same and a[i] == b[i] end\n"
    "  if not same then error(('%q %q'):format(..., (select(2, ...)))) end\n"
    "end\n"
    "math.randomseed(1)\n"
    "for i = 1, 20000 do\n"
    "  local text, pattern, from = pick(letters, 10), pick(pieces, 7), math.random(-12, 12)\n"
    "  compare(string.find, find, text, pattern, from)\n"
    "  compare(string.find, find, text, pattern, from, true)\n"
    "  compare(string.match, match, text, pattern, from)\n"
    "  compare(string.gsub, gsub, text, pattern, replacements[math.random(#replacements)])\n"
    "  compare(string.gsub, gsub, text, pattern, describe, math.random(0, 4))\n"
    "  compare(string.gsub, gsub, text, pattern, { a = 'A', b = false, [1] = 'one' })\n"
    "end\n";

static void patterns_answer_as_lua_s(void **state)
{
    (void)state;
    const budget_terms terms = {.memory_bytes = (size_t)1 << 30,
                                .instructions = INT64_C(1) << 50,
                                .deadline_us = 60 * WEIR_SECOND};
    budget b;
    budget_init(&b, &terms);
    lua_State *L = lua_newstate(budget_allocate, &b);
    assert_non_null(L);
    b.L = L;
    *(budget **)lua_getextraspace(L) = &b;
    luaL_openlibs(L);
    lua_register(L, "find", pattern_find);
    lua_register(L, "match", pattern_match);
    lua_register(L, "gsub", pattern_gsub);
    budget_begin(&b, false);
    if (luaL_dostring(L, compare_text) != LUA_OK) {
        fail_msg("%s", lua_tostring(L, -1));
    }
    budget_end(&b);
    lua_close(L);
    assert_int_equal(b.memory_used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_answer_as_lua_s)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
