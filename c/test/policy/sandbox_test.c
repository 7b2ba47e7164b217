// The world of a policy: what it finds there, what it can't do, and that it leaves no trace.

#include "support.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

// The body answers true, or an error is raised.
static void assert_true_in_policy(const char *body)
{
    char text[2000];
    snprintf(text, sizeof text, "return function(request) %s end", body);
    fixture f;
    fixture_open(&f, text);
    if (fixture_ask(&f, "bob", T0) != WEIR_OK) {
        fail_msg("%s: %s", body, f.error.message);
    }
    if (!f.outcome.allowed) {
        fail_msg("%s: is not so", body);
    }
    fixture_close(&f);
}

static void assert_error_in_policy(const char *body, const char *piece)
{
    char text[2000];
    snprintf(text, sizeof text, "return function(request) %s end", body);
    fixture f;
    fixture_open(&f, text);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY);
    assert_has(f.error.message, piece);
    fixture_close(&f);
}

static void c161_library_tables_are_not_shared_through_strings(void **state)
{
    (void)state;
    assert_error_in_policy("return #('x'):rep(1e9)", "rep makes at most 65536 bytes");
    assert_error_in_policy("return #string.rep('x', 1e9)", "rep makes at most 65536 bytes");
    assert_true_in_policy("return ('x').rep == string.rep and ('x').find == string.find");
    assert_error_in_policy("getmetatable('').__index.rep = 1", "nil value");
    assert_error_in_policy("string.format = nil", "the string library can't be changed");
    assert_error_in_policy("('').rep = 1", "index a string value");
    assert_error_in_policy("setmetatable(string, {})", "has a metatable already");
    assert_error_in_policy("rawset(string, 'rep', 1)", "nil value");
    assert_error_in_policy("table.insert(string, 1)", "refuses assignments");
    assert_error_in_policy("table.remove(string)", "refuses assignments");
    assert_true_in_policy("return ('x'):rep(3) == 'xxx' and ('%d'):format(3) == '3'");
}

static void c162_there_are_no_coroutines(void **state)
{
    (void)state;
    assert_error_in_policy("coroutine.wrap(function() while true do end end)()", "coroutine");
    assert_true_in_policy("return coroutine == nil");
}

static void c166_memory_is_bounded_and_the_next_call_works(void **state)
{
    (void)state;
    static const char *const bombs[] = {
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 60000 do t[i] = 'xxxxxxxxxx' end return table.concat(t)",
    };
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "return function(request) if request.user == 'evil' then %s end return true end",
                 bombs[i]);
        fixture f;
        fixture_open(&f, text);
        for (int round = 0; round < 20; round++) {
            assert_int_equal(fixture_ask(&f, "evil", T0), WEIR_POLICY_BUDGET);
            assert_has(f.error.message, "policy.lua:1:");
            assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
            assert_true(f.outcome.allowed);
        }
        fixture_close(&f);
    }
}

static void a_kill_can_not_be_caught(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "while true do pcall(function() while true do end end) end",
        "pcall(function() while true do end end) return true",
        "pcall(function() local t = {} while true do t = {t, t, t, t} end end) return true",
        "pcall(function() local s = 'x' while true do s = s .. s end end) return true",
        "pcall(string.find, ('a'):rep(60000), '.-.-.-b') return true",
        "pcall(pcall, pcall, function() while true do end end) return true",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, "return function(request) %s end", bodies[i]);
        fixture f;
        fixture_open(&f, text);
        assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY_BUDGET);
        fixture_close(&f);
    }
}

static void errors_can_be_caught(void **state)
{
    (void)state;
    assert_true_in_policy("local ok, e = pcall(error, 'x') return not ok and e == 'x'");
    assert_true_in_policy("local ok, e = pcall(error, {1}) return not ok and e[1] == 1");
    assert_true_in_policy(
        "local ok, a, b = pcall(function() return 1, 2 end) return ok and b == 2");
    assert_true_in_policy("return not pcall(function() local x = nil; return x.y end)");
}

static void c168_dangerous_globals_are_absent(void **state)
{
    (void)state;
    static const char *const names[] = {
        "collectgarbage",
        "coroutine",
        "debug",
        "dofile",
        "getfenv",
        "getmetatable",
        "io",
        "load",
        "loadfile",
        "loadstring",
        "os",
        "package",
        "print",
        "rawset",
        "setfenv",
        "utf8",
        "warn",
        "xpcall",
        "_G",
        "string.dump",
        "string.pack",
        "string.unpack",
        "string.packsize",
        "string.gmatch",
        "table.move",
        "table.sort",
        "table.unpack",
        "table.pack",
        "math.random",
        "math.randomseed",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char body[100];
        snprintf(body, sizeof body, "return %s == nil", names[i]);
        assert_true_in_policy(body);
    }
}

static void c169_globals_can_not_be_written(void **state)
{
    (void)state;
    assert_error_in_policy("x = (x or 0) + 1 return true",
                           "the globals can't be changed: 'x' must be a local of the policy");
    assert_error_in_policy("string = nil", "the globals can't be changed");
    assert_error_in_policy("math.pi = 3", "the math library can't be changed");
    assert_error_in_policy("_ENV.x = 1", "the globals can't be changed");
    assert_refused("x = 1\nreturn function() return true end", WEIR_POLICY,
                   "policy.lua:1:", "the globals can't be changed");
    assert_true_in_policy("return x == nil");
}

static void c169_policies_share_nothing(void **state)
{
    (void)state;
    fixture a, b;
    static const char text[] = "local n = 0\n"
                               "return function(request) n = n + 1 return n == 1 end";
    fixture_open(&a, text);
    fixture_open(&b, text);
    assert_int_equal(fixture_ask(&a, "bob", T0), WEIR_OK);
    assert_true(a.outcome.allowed);
    assert_int_equal(fixture_ask(&b, "bob", T0), WEIR_OK);
    assert_true(b.outcome.allowed);
    fixture_close(&a);
    fixture_close(&b);
}

static void metatables_are_held(void **state)
{
    (void)state;
    static const char *const refused[] = {"__gc",       "__close",     "__mode",
                                          "__len",      "__pairs",     "__name",
                                          "__tostring", "__metatable", "__whatever"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char body[100];
        snprintf(body, sizeof body, "setmetatable({}, { %s = function() end })", refused[i]);
        assert_error_in_policy(body, refused[i]);
    }
    assert_error_in_policy("setmetatable({}, { __index = rawget })", "must be a function of the");
    assert_error_in_policy("setmetatable({}, { __call = pcall })", "must be a function of the");
    assert_error_in_policy("setmetatable({}, { __newindex = {} })", "must be a function of the");
    assert_error_in_policy("local t = {} setmetatable(t, { __index = t })", "its own __index");
    assert_error_in_policy("local a = setmetatable({}, { __index = {} }) "
                           "setmetatable({}, { __index = a })",
                           "can't have a metatable");
    assert_error_in_policy("local a = {} setmetatable({}, { __index = a }) "
                           "setmetatable(a, { __index = {} })",
                           "is the __index of another");
    assert_error_in_policy("setmetatable(setmetatable({}, {}), {})", "has a metatable already");
    assert_error_in_policy("setmetatable({}, { __index = string })", "can't have a metatable");
    assert_true_in_policy("local C = { __call = function(_, x) return x + 1 end, greet = 1 }"
                          "C.__index = C local o = setmetatable({}, C) "
                          "local p = setmetatable({}, C) return o(1) == 2 and p.greet == 1");
    assert_true_in_policy("local m = { __eq = function() return true end } "
                          "return setmetatable({}, m) == setmetatable({}, m)");
    assert_true_in_policy("local m = { __add = function() return 7 end } "
                          "local t = setmetatable({}, m) m.__add = nil return t + 1 == 7");
}

static void no_addresses_are_shown(void **state)
{
    (void)state;
    assert_true_in_policy("return tostring({}) == 'table' and tostring(print) == 'nil'");
    assert_true_in_policy("return tostring(tostring) == 'function'");
    assert_true_in_policy("return tostring(request) == 'userdata'");
    assert_error_in_policy("return ('%p'):format({})", "%p");
    assert_error_in_policy("return ('%-10p'):format({})", "%p");
    assert_error_in_policy("return ('%s'):format({})", "text, a number, a boolean or nil");
    assert_true_in_policy("return ('%s %q %d%%'):format(nil, 'a', 5) == 'nil \"a\" 5%'");
}

static void tables_work_as_ever(void **state)
{
    (void)state;
    assert_true_in_policy("local t = { 1, 2 } table.insert(t, 3) table.insert(t, 1, 0) "
                          "return table.concat(t, ',') == '0,1,2,3'");
    assert_true_in_policy("local t = { 1, 2, 3 } return table.remove(t) == 3 and "
                          "table.remove(t, 1) == 1 and #t == 1 and table.remove({}) == nil");
    assert_true_in_policy("return table.concat({}) == '' and table.concat({ 'a', 1, 2.5 }) == "
                          "'a12.5' and table.concat({ 1, 2, 3 }, '-', 2, 3) == '2-3'");
    assert_error_in_policy("table.concat({ {} })", "index 1 is a table");
    assert_error_in_policy("table.insert({}, 5, 1)", "position out of bounds");
    assert_error_in_policy("table.concat({ 1 }, ',', 1, math.maxinteger)", "index 2 is a nil");
    assert_true_in_policy("local n = 0 for k, v in pairs({ a = 1, b = 2, 3 }) do n = n + v end "
                          "for i, v in ipairs({ 1, 2 }) do n = n + v end return n == 9");
    assert_true_in_policy("return next({}) == nil and select('#', 1, 2) == 2");
}

static void numbers_do_not_come_of_texts_by_themselves(void **state)
{
    (void)state;
    assert_error_in_policy("return '10' + 1", "arithmetic on a string");
    assert_error_in_policy("return '10' | 1", "a string value");
    assert_true_in_policy("return tonumber('10') + 1 == 11 and tonumber('ff', 16) == 255");
}

static void patterns_answer_as_lua_s(void **state)
{
    (void)state;
    static const char *const truths[] = {
        "('hello world'):find('wor') == 7",
        "('hello'):find('l+') == 3 and select(2, ('hello'):find('l+')) == 4",
        "('hello'):find('') == 1 and ('hello'):find('', 6) == 6 and ('hello'):find('', 7) == nil",
        "('a.b'):find('.', 1, true) == 2 and ('a.b'):find('b', -1) == 3",
        "('a+b'):find('+', 1, true) == 2 and ('abc'):find('', 10, true) == nil",
        "('key = value'):match('^(%w+)%s*=%s*(%w+)$') == 'key'",
        "select(2, ('key = value'):match('^(%w+)%s*=%s*(%w+)$')) == 'value'",
        "('  trim  '):match('^%s*(.-)%s*$') == 'trim'",
        "('abc'):match('()b()') == 2 and select(2, ('abc'):match('()b()')) == 3",
        "('THE (quick) fox'):find('%((%a+)%)') == 5",
        "('f(a(b)c)d'):match('%b()') == '(a(b)c)'",
        "('THE quick'):match('%f[%a]%a+%f[%A]') == 'THE'",
        "('abab'):match('(ab)%1') == 'ab' and ('abac'):match('^(ab)%1') == nil",
        "('x]y'):match('[]]') == ']' and ('x-y'):match('[a%-]') == '-'",
        "('aXb'):match('[^a-z]') == 'X' and ('5'):match('[0-9]') == '5' and ('a'):match('[a-]')",
        "('a^b'):match('[b^]') == '^' and ('%'):match('%%') == '%'",
        "('aaa'):match('a-b') == nil and ('aaab'):match('a-b') == 'aaab'",
        "('abc'):match('a?b?c?d?') == 'abc' and ('$5'):match('^$%d$') == '$5'",
        "('a\\0b'):match('%z') == nil and ('a\\0b'):find('\\0', 1, true) == 2",
        "('hello'):gsub('l', 'L') == 'heLLo' and select(2, ('hello'):gsub('l', 'L')) == 2",
        "('hello'):gsub('', '-') == '-h-e-l-l-o-'",
        "('abc'):gsub('%w', '%0%0', 2) == 'aabbc' and ('abc'):gsub('^a', 'x') == 'xbc'",
        "('k=v'):gsub('(%w)=(%w)', '%2=%1') == 'v=k' and ('a'):gsub('a', '%%') == '%'",
        "('$x $y'):gsub('%$(%w)', { x = 1 }) == '1 $y'",
        "('abc'):gsub('%w', function(c) return c == 'b' and 'B' end) == 'aBc'",
        "('abc'):gsub('()', '%1') == '1a2b3c4'",
        "('abc def'):gsub('%f[%w]%w+', string.upper) == 'ABC DEF'",
    };
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        char body[200];
        snprintf(body, sizeof body, "return not not (%s)", truths[i]);
        assert_true_in_policy(body);
    }
    static const char *const wrong[] = {"%",  "[a",  "[%", "%b", "%bx",  "(",   "(a",    "a)",
                                        "%f", "(()", "%1", "[^", "[a-%", "[%a", "()%1)", "((a)%2)"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char body[200];
        snprintf(body, sizeof body, "return ('aaaa'):find('%s')", wrong[i]);
        assert_error_in_policy(body, "");
    }
    assert_error_in_policy("return ('a'):gsub('a', '%2')", "invalid capture");
    assert_error_in_policy("return ('a'):gsub('a', '%x')", "invalid use of");
    assert_error_in_policy("return ('a'):find(('a'):rep(129))", "at most 128");
}

static void a_pattern_on_a_long_text_is_counted_by_its_steps(void **state)
{
    (void)state;
    assert_true_in_policy("local agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 "
                          "(KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36' "
                          "return agent:match('Chrome/(%d+)%.(%d+)') == '120'");
    assert_true_in_policy("local s = ('a'):rep(8000) .. ' end' return s:match('^%w+ (%w+)$') == "
                          "'end'");
    fixture f;
    fixture_open(&f, "return function() return ('a'):rep(60000):find('.-.-b') end");
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY_BUDGET);
    fixture_close(&f);
}

static void the_host_s_locale_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setlocale(LC_ALL, names[i]);
        assert_true_in_policy("return ('%.1f'):format(1.5) == '1.5' and tonumber('1.5') == 1.5 and "
                              "'Z' < 'a' and not ('\\xe4'):find('%a')");
    }
    setlocale(LC_ALL, "C");
}

static void strings_have_bounds(void **state)
{
    (void)state;
    assert_true_in_policy("return #('x'):rep(65536) == 65536 and ('x'):rep(0) == ''");
    assert_true_in_policy("return ('ab'):rep(3, '-') == 'ab-ab-ab' and (''):rep(5) == ''");
    assert_error_in_policy("return (''):rep(1e12 // 1 | 0)", "at most 65536");
    assert_error_in_policy("return ('x'):rep(-1):rep(math.maxinteger)", "at most 65536");
    assert_true_in_policy("return ('aBc'):upper() == 'ABC' and ('aBc'):lower() == 'abc' and "
                          "('abc'):sub(2, 3) == 'bc' and ('abc'):byte() == 97 and "
                          "string.char(97) == 'a' and ('abc'):len() == 3 and "
                          "('abc'):reverse() == 'cba'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c161_library_tables_are_not_shared_through_strings),
        cmocka_unit_test(c162_there_are_no_coroutines),
        cmocka_unit_test(c166_memory_is_bounded_and_the_next_call_works),
        cmocka_unit_test(a_kill_can_not_be_caught),
        cmocka_unit_test(errors_can_be_caught),
        cmocka_unit_test(c168_dangerous_globals_are_absent),
        cmocka_unit_test(c169_globals_can_not_be_written),
        cmocka_unit_test(c169_policies_share_nothing),
        cmocka_unit_test(metatables_are_held),
        cmocka_unit_test(no_addresses_are_shown),
        cmocka_unit_test(tables_work_as_ever),
        cmocka_unit_test(numbers_do_not_come_of_texts_by_themselves),
        cmocka_unit_test(patterns_answer_as_lua_s),
        cmocka_unit_test(a_pattern_on_a_long_text_is_counted_by_its_steps),
        cmocka_unit_test(the_host_s_locale_changes_nothing),
        cmocka_unit_test(strings_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
