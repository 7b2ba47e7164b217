// Policies that do not load: file, line and reason.

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A policy whose second line makes this limit.
#define LIMIT(text)                                                                                \
    "local weir = require 'weir'\n"                                                                \
    "local l = weir." text "\n"                                                                    \
    "return function(request) return l(request.user) end"

static void assert_limit_refused(const char *text, const char *piece, const char *other)
{
    assert_refused(text, WEIR_POLICY, "policy.lua:2: ", piece);
    assert_refused(text, WEIR_POLICY, "policy.lua:2: ", other);
}

static void what_does_not_compile(void **state)
{
    (void)state;
    assert_refused("return function(request\n  return true\nend", WEIR_POLICY,
                   "policy.lua:2:", "expected");
    assert_refused("local x <const> = 1\nx = 2", WEIR_POLICY, "policy.lua:2:", "const");
    assert_refused("goto nowhere", WEIR_POLICY, "policy.lua:1:", "nowhere");
}

static void what_returns_no_function(void **state)
{
    (void)state;
    assert_refused("", WEIR_POLICY, "policy.lua:", "returned nothing");
    assert_refused("return 5", WEIR_POLICY, "policy.lua:", "returned number");
    assert_refused("return {}", WEIR_POLICY, "policy.lua:", "without 'request'");
    assert_refused("return { response = function() end }", WEIR_POLICY,
                   "policy.lua:", "without 'request'");
    assert_refused("return { request = 1 }", WEIR_POLICY, "policy.lua:", "'request' is a number");
    assert_refused("return { request = function() end, response = 'f' }", WEIR_POLICY,
                   "policy.lua:", "'response' is a string");
}

static void what_fails_while_it_loads(void **state)
{
    (void)state;
    assert_refused("\nerror('not today')", WEIR_POLICY, "policy.lua:2:", "not today");
    assert_refused("local x = nil\nx.y = 1", WEIR_POLICY, "policy.lua:2:", "nil value");
    assert_refused("require 'os'", WEIR_POLICY, "policy.lua:1:", "no module 'os'");
    assert_refused("local weir = require 'weir'\nweir.deny('x')", WEIR_POLICY,
                   "policy.lua:2:", "deny is for");
    assert_refused("local weir = require 'weir'\n"
                   "local l = weir.min_gap { name = 'g', gap = '1s' }\nl:peek('k')",
                   WEIR_POLICY, "policy.lua:3:", "peek is for a request");
    assert_refused("local weir = require 'weir'\n"
                   "local l = weir.min_gap { name = 'g', gap = '1s' }\nl('k')",
                   WEIR_POLICY, "policy.lua:3:", "checks are for the function of the request");
}

static void what_runs_too_long_or_too_large(void **state)
{
    (void)state;
    assert_refused("\nwhile true do end", WEIR_POLICY_BUDGET,
                   "policy.lua:2:", "more than its 200000 instructions");
    assert_refused("local t = {}\nwhile true do t = { t, t, t, t, t } end", WEIR_POLICY_BUDGET,
                   "policy.lua:2:", "larger than its 1048576 bytes");
    assert_refused("local s = 'x'\nwhile true do s = s .. s end", WEIR_POLICY_BUDGET,
                   "policy.lua:2:", "a text longer than 65536 bytes");
    assert_refused("local a = ('\\0'):rep(65000)\nlocal b, c = a .. 1, a .. 2\n"
                   "while true do local _ = b < c end",
                   WEIR_POLICY_BUDGET, "policy.lua:3:", "longer than its 50ms");
}

static void c167_compiled_code(void **state)
{
    (void)state;
    assert_refused("\033Lua", WEIR_POLICY, "policy.lua:", "compiled code");
    assert_refused("\033LJ\002", WEIR_POLICY, "policy.lua:", "compiled code");
    assert_refused("load('\\27Lua')", WEIR_POLICY, "policy.lua:1:", "nil value");
    assert_refused("string.dump(print)", WEIR_POLICY, "policy.lua:1:", "nil value");
}

static void what_is_too_long_to_compile(void **state)
{
    (void)state;
    enum { SIZE = 65537 };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    memset(text, ' ', SIZE);
    text[SIZE] = '\0';
    assert_refused(text, WEIR_POLICY, "policy.lua:", "at most 65536");
    free(text);
}

static void limits_with_a_name_taken(void **state)
{
    (void)state;
    assert_refused("local weir = require 'weir'\n"
                   "local a = weir.min_gap { name = 'x', gap = '1s' }\n"
                   "local b = weir.min_gap { name = 'x', gap = '2s' }\n",
                   WEIR_POLICY, "policy.lua:3:", "a limit named 'x' already");
    fixture f;
    fixture_open(&f, "local weir = require 'weir'\n"
                     "local a = weir.min_gap { name = 'x', gap = '1s' }\n"
                     "local b = weir.fixed_window { name = 'x', limit = 1, window = '2s' }\n"
                     "return function() return a(1), b(1) end");
    const weir_limit *const *limits;
    const bool *shadow;
    assert_int_equal(weir_policy_limits(f.policy, &limits, &shadow), 2);
    assert_string_equal(limits[0]->name, "x");
    assert_int_equal(limits[1]->algorithm, WEIR_FIXED_WINDOW);
    assert_false(shadow[0]);
    fixture_close(&f);
}

static void c091_options_that_are_wrong(void **state)
{
    (void)state;
    assert_limit_refused(LIMIT("min_gap()"), "min_gap: options was nil", "it must be a table");
    assert_limit_refused(LIMIT("min_gap { gap = '1s' }"), "name is missing", "min_gap");
    assert_limit_refused(LIMIT("min_gap { name = 'x' }"), "gap is missing", "it must be given");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = '1s', rate = 1 }"),
                         "\"rate\" is no option",
                         "the options are name, gap, count_denied, shadow");
    assert_limit_refused(LIMIT("min_gap { 'x', gap = '1s' }"), "1 is no option", "name");
    assert_limit_refused(LIMIT("min_gap { name = 5, gap = '1s' }"), "name was 5", "text");
    assert_limit_refused(LIMIT("min_gap { name = '', gap = '1s' }"), "name was empty", "1 to 64");
    assert_limit_refused(LIMIT("min_gap { name = 'a\\0b', gap = '1s' }"), "name has a NUL", "");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = 5 }"), "gap was 5", "250ms");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = '5' }"), "gap was \"5\"", "250ms");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = '1s\\0' }"), "gap was", "250ms");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = '0s' }"), "gap was 0", "from 1");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = '1 month' }"), "gap was", "1d");
    assert_limit_refused(LIMIT("min_gap { name = 'x', gap = '1s', shadow = 'yes' }"),
                         "shadow was \"yes\"", "true or false");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = 1.5, window = '1s' }"),
                         "limit was 1.5", "a whole number");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = -1, window = '1s' }"),
                         "limit was -1", "at least 0");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = '5', window = '1s' }"),
                         "limit was \"5\"", "a whole number");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = 1/0, window = '1s' }"),
                         "limit was inf", "a whole number");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = 0/0, window = '1s' }"),
                         "limit was", "a whole number");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = 1e300, window = '1s' }"),
                         "limit was 1e+300", "at most 2^40");
    assert_limit_refused(LIMIT("fixed_window { name = 'x', limit = 1 << 41, window = '1s' }"),
                         "limit was 2199023255552", "");
    assert_limit_refused(
        LIMIT("fixed_window { name = 'x', limit = 1, window = '1s', offset = '1s' }"),
        "offset was 1000000", "less than the window");
    assert_limit_refused(
        LIMIT("sliding_counter { name = 'x', limit = 1, window = '1s', slots = 0 }"), "slots was 0",
        "at least 1");
    assert_limit_refused(
        LIMIT("sliding_counter { name = 'x', limit = 1, window = '1s', slots = 7 }"), "slots was 7",
        "divide");
    assert_limit_refused(LIMIT("token_bucket { name = 'x', rate = 10 }"), "period is missing",
                         "rate = \"10/s\"");
    assert_limit_refused(LIMIT("token_bucket { name = 'x', rate = '10/s', period = '1s' }"),
                         "period was \"1s\"", "leave it out");
    assert_limit_refused(LIMIT("token_bucket { name = 'x', rate = '10' }"), "rate was \"10\"",
                         "100 per minute");
    assert_limit_refused(LIMIT("token_bucket { name = 'x', rate = 0.5, period = '1s' }"),
                         "rate was 0.5", "a whole number");
    assert_limit_refused(LIMIT("token_bucket { name = 'x', rate = '10/s', burst = -1 }"),
                         "burst was -1", "at least 0");
}

static void options_as_people_write_them(void **state)
{
    (void)state;
    static const struct {
        const char *limit;
        int64_t most;
        int64_t window_us;
    } cases[] = {
        {"token_bucket { name = 'x', rate = '10/s' }", 10, WEIR_SECOND},
        {"token_bucket { name = 'x', rate = '100 per minute' }", 100, WEIR_MINUTE},
        {"token_bucket { name = 'x', rate = 5, period = '1m30s', burst = 7 }", 7, 90 * WEIR_SECOND},
        {"token_bucket { name = 'x', rate = '10/s', burst = 0 }", 0, WEIR_SECOND},
        {"leaky_bucket { name = 'x', rate = '5/15m', queue = 3 }", 4, 15 * WEIR_MINUTE},
        {"fixed_window { name = 'x', limit = 3, window = '1d', offset = '9h' }", 3, WEIR_DAY},
        {"fixed_window { name = 'x', limit = 0, window = '1d' }", 0, WEIR_DAY},
        {"sliding_log { name = 'x', limit = 3.0, window = '250ms' }", 3, 250000},
        {"sliding_counter { name = 'x', limit = 3, window = '1h', slots = 6, strict = true }", 3,
         WEIR_HOUR},
        {"min_gap { name = 'x', gap = '1.5s', count_denied = true }", 1, 1500000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        snprintf(
            text, sizeof text,
            "local weir = require 'weir'\nlocal l = weir.%s\nreturn function() return l(1) end",
            cases[i].limit);
        fixture f;
        fixture_open(&f, text);
        const weir_limit *const *limits;
        assert_int_equal(weir_policy_limits(f.policy, &limits, NULL), 1);
        assert_int_equal(limits[0]->most, cases[i].most);
        assert_int_equal(limits[0]->window_us, cases[i].window_us);
        fixture_close(&f);
    }
    fixture f;
    fixture_open(&f, "local weir = require 'weir'\nlocal d = weir.duration('1m30s')\n"
                     "return function() return weir.deny(tostring(d)) end");
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
    assert_string_equal(f.outcome.reason, "90000000");
    fixture_close(&f);
    assert_refused("local weir = require 'weir'\nweir.duration('soon')", WEIR_POLICY,
                   "policy.lua:2:", "duration was \"soon\"");
}

static void a_file_that_is_not_there(void **state)
{
    (void)state;
    weir_policy *policy;
    weir_error error;
    assert_int_equal(weir_policy_open(&policy, "/nowhere/policy.lua", NULL, &error), WEIR_IO);
    assert_has(error.message, "/nowhere/policy.lua: No such file");
    assert_int_equal(weir_policy_open(&policy, "/", NULL, &error), WEIR_IO);
    assert_int_equal(weir_policy_open(&policy, "/nowhere/policy.lua", NULL, NULL), WEIR_IO);
}

static void options_out_of_range(void **state)
{
    (void)state;
    weir_policy *policy;
    weir_error error;
    const weir_policy_options wrong[] = {
        {.instructions = -1}, {.deadline_us = -1}, {.reserved = {1}}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(weir_policy_open_text(&policy, "p", "", 0, &wrong[i], &error),
                         WEIR_INVALID);
    }
    const weir_policy_options tiny = {.memory_bytes = 1000};
    assert_int_equal(weir_policy_open_text(&policy, "p", "", 0, &tiny, &error), WEIR_POLICY_BUDGET);
    const weir_policy_options hasty = {.instructions = 1};
    assert_int_equal(weir_policy_open_text(&policy, "p", "", 0, &hasty, &error),
                     WEIR_POLICY_BUDGET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_compile),
        cmocka_unit_test(what_returns_no_function),
        cmocka_unit_test(what_fails_while_it_loads),
        cmocka_unit_test(what_runs_too_long_or_too_large),
        cmocka_unit_test(c167_compiled_code),
        cmocka_unit_test(what_is_too_long_to_compile),
        cmocka_unit_test(limits_with_a_name_taken),
        cmocka_unit_test(c091_options_that_are_wrong),
        cmocka_unit_test(options_as_people_write_them),
        cmocka_unit_test(a_file_that_is_not_there),
        cmocka_unit_test(options_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
