// A reload takes effect at the next call, or leaves the last good policy as it was.

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void window_policy(char *out, size_t size, int limit)
{
    snprintf(out, size,
             "local weir = require 'weir'\n"
             "local w = weir.fixed_window { name = 'w', limit = %d, window = '1h' }\n"
             "return function(request) return w(request.user) end",
             limit);
}

static void reload_window(fixture *f, int limit)
{
    char text[300];
    window_policy(text, sizeof text, limit);
    assert_int_equal(weir_policy_reload_text(f->policy, text, strlen(text), &f->error), WEIR_OK);
}

static void assert_ask(fixture *f, bool allowed, int64_t remaining)
{
    if (fixture_ask(f, "bob", T0) != WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
    assert_int_equal(f->outcome.allowed, allowed);
    assert_int_equal(f->outcome.decision.remaining, remaining);
}

static void c183_a_reload_takes_effect_at_the_next_call(void **state)
{
    (void)state;
    char text[300];
    window_policy(text, sizeof text, 10);
    fixture f;
    fixture_open(&f, text);
    for (int i = 1; i <= 4; i++) {
        assert_ask(&f, true, 10 - i);
    }
    reload_window(&f, 5);
    assert_ask(&f, true, 0);
    reload_window(&f, 3);
    assert_ask(&f, false, 0);
    fixture_close(&f);
}

static void c182_a_reload_refills_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "local weir = require 'weir'\n"
        "local b = weir.token_bucket { name = 'b', rate = '1/m', burst = 5 }\n"
        "return function(request) return b(request.user) end";
    fixture f;
    fixture_open(&f, text);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
        assert_true(f.outcome.allowed);
    }
    for (int i = 0; i < 10; i++) {
        assert_int_equal(weir_policy_reload_text(f.policy, text, strlen(text), NULL), WEIR_OK);
        assert_int_equal(fixture_ask(&f, "bob", T0 + i * WEIR_SECOND), WEIR_OK);
        assert_false(f.outcome.allowed);
    }
    fixture_close(&f);
}

static void what_is_wrong_leaves_the_last_good_policy(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        weir_status status;
        const char *piece;
    } wrong[] = {
        {"return function(", WEIR_POLICY, "policy.lua:1:"},
        {"return 5", WEIR_POLICY, "returned number"},
        {"while true do end", WEIR_POLICY_BUDGET, "policy.lua:1:"},
        {"local weir = require 'weir'\nweir.min_gap { name = 'g' }", WEIR_POLICY, "policy.lua:2:"},
        {"\033Lua", WEIR_POLICY, "compiled code"},
    };
    char text[300];
    window_policy(text, sizeof text, 10);
    fixture f;
    fixture_open(&f, text);
    for (int i = 0; i < 5; i++) {
        weir_error error = {.message = ""};
        assert_int_equal(
            weir_policy_reload_text(f.policy, wrong[i].text, strlen(wrong[i].text), &error),
            wrong[i].status);
        assert_has(error.message, wrong[i].piece);
        assert_ask(&f, true, 9 - i);
    }
    assert_int_equal(weir_policy_reload(f.policy, &f.error), WEIR_INVALID);
    assert_has(f.error.message, "opened from text");
    fixture_close(&f);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_file_is_read_again(void **state)
{
    (void)state;
    char path[] = "/tmp/weir-policy-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    char text[300];
    window_policy(text, sizeof text, 10);
    write_file(path, text);
    fixture f = {.policy = NULL};
    assert_int_equal(weir_policy_open(&f.policy, path, NULL, &f.error), WEIR_OK);
    assert_int_equal(weir_runner_open(&f.runner, f.policy, &f.error), WEIR_OK);
    assert_int_equal(weir_memory_open(&f.store, NULL, &f.error), WEIR_OK);
    assert_ask(&f, true, 9);
    window_policy(text, sizeof text, 2);
    write_file(path, text);
    assert_ask(&f, true, 8); // not before it is told
    assert_int_equal(weir_policy_reload(f.policy, &f.error), WEIR_OK);
    assert_ask(&f, false, 0);
    write_file(path, "return nil");
    assert_int_equal(weir_policy_reload(f.policy, &f.error), WEIR_POLICY);
    assert_has(f.error.message, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(weir_policy_reload(f.policy, &f.error), WEIR_IO);
    assert_ask(&f, false, 0);
    fixture_close(&f);
}

static void limits_of_the_policy_are_those_of_its_outcomes(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, "local weir = require 'weir'\n"
                     "local l = {}\n"
                     "for name in pairs { a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1 } do\n"
                     "  l[name] = weir.min_gap { name = name, gap = '1s', shadow = name == 'c' }\n"
                     "end\n"
                     "return function(request) return l[request.user](1) end");
    const weir_limit *const *limits;
    const bool *shadow;
    const size_t count = weir_policy_limits(f.policy, &limits, &shadow);
    assert_int_equal(count, 7);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(fixture_ask(&f, limits[i]->name, T0), WEIR_OK);
        assert_ptr_equal(f.outcome.checks[0].limit, limits[i]);
        assert_int_equal(shadow[i], strcmp(limits[i]->name, "c") == 0);
        assert_int_equal(f.outcome.shadow[0], shadow[i]);
    }
    fixture_close(&f);
}

static void a_killed_policy_is_rebuilt_and_keeps_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, "local n = 0\n"
                     "return function(request)\n"
                     "  n = n + 1\n"
                     "  if request.user == 'evil' then while true do end end\n"
                     "  return n <= 2\n"
                     "end");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
        assert_true(f.outcome.allowed);
        assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
        assert_true(f.outcome.allowed);
        assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
        assert_false(f.outcome.allowed);
        assert_int_equal(fixture_ask(&f, "evil", T0), WEIR_POLICY_BUDGET);
        assert_has(f.error.message, "policy.lua:4:");
    }
    fixture_close(&f);
}

static void budgets_are_options(void **state)
{
    (void)state;
    static const char text[] = "return function(request)\n"
                               "  local n = 0 for i = 1, 100000 do n = n + i end return true end";
    const weir_policy_options more = {.instructions = 1000000};
    const weir_policy_options fewer = {.instructions = 20000};
    fixture f;
    fixture_open_with(&f, text, &more);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
    fixture_close(&f);
    fixture_open_with(&f, text, &fewer);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY_BUDGET);
    assert_has(f.error.message, "more than its 20000 instructions");
    fixture_close(&f);
    const weir_policy_options hasty = {.instructions = INT64_C(1) << 40, .deadline_us = 10000};
    fixture_open_with(&f, "return function() while true do end end", &hasty);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY_BUDGET);
    assert_has(f.error.message, "ran longer than its 10ms");
    fixture_close(&f);
    const weir_policy_options large = {.memory_bytes = 8 << 20, .instructions = 10000000};
    static const char hungry[] = "return function()\n"
                                 "  local t = {} for i = 1, 40000 do t[i] = {} end return true end";
    fixture_open_with(&f, hungry, &large);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c183_a_reload_takes_effect_at_the_next_call),
        cmocka_unit_test(c182_a_reload_refills_nothing),
        cmocka_unit_test(what_is_wrong_leaves_the_last_good_policy),
        cmocka_unit_test(a_file_is_read_again),
        cmocka_unit_test(limits_of_the_policy_are_those_of_its_outcomes),
        cmocka_unit_test(a_killed_policy_is_rebuilt_and_keeps_nothing),
        cmocka_unit_test(budgets_are_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
