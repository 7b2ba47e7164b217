// What a policy does after the response: refunds, charges and releases, all once it has returned.

#include "support.h"

#include <string.h>

#define HEAD                                                                                       \
    "local weir = require 'weir'\n"                                                                \
    "local w = weir.fixed_window { name = 'w', limit = 5, window = '1h' }\n"                       \
    "local c = weir.concurrency { name = 'c', limit = 1, ttl = '1h' }\n"

#define POLICY(text)                                                                               \
    HEAD "return { request = function(request) return w(request.user) end,\n"                      \
         "response = function(request, response) " text " end }"

static int64_t remaining(fixture *f, const char *user)
{
    assert_int_equal(fixture_ask(f, user, T0), WEIR_OK);
    return f->outcome.decision.remaining;
}

static void respond_ok(fixture *f, const char *user, bool allowed, const char *success)
{
    if (fixture_respond(f, user, allowed, success, T0) != WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
}

static void a_success_is_refunded(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, POLICY("if response.allowed and response.success == 'yes' then\n"
                            "w:refund(request.user) end"));
    assert_true(weir_policy_has_response(f.policy));
    assert_int_equal(remaining(&f, "bob"), 4);
    respond_ok(&f, "bob", true, "yes");
    assert_int_equal(remaining(&f, "bob"), 4);
    respond_ok(&f, "bob", true, NULL);
    respond_ok(&f, "bob", false, "yes");
    assert_int_equal(remaining(&f, "bob"), 3);
    fixture_close(&f);
}

static void charges_may_pass_the_limit(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, POLICY("w:charge(request.user, 3) w:charge(request.user, 4)"));
    assert_int_equal(remaining(&f, "bob"), 4);
    respond_ok(&f, "bob", true, NULL);
    assert_int_equal(remaining(&f, "bob"), 0);
    assert_false(f.outcome.allowed);
    fixture_close(&f);
}

static void a_place_is_released(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, HEAD "return { request = function(request) return c('door', request.user) end,"
                          "response = function(request) c:release('door', request.user) end }");
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
    assert_true(f.outcome.allowed);
    assert_int_equal(fixture_ask(&f, "eve", T0), WEIR_OK);
    assert_false(f.outcome.allowed);
    respond_ok(&f, "bob", true, NULL);
    respond_ok(&f, "bob", true, NULL); // releasing twice gives no second place
    assert_int_equal(fixture_ask(&f, "eve", T0), WEIR_OK);
    assert_true(f.outcome.allowed);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_OK);
    assert_false(f.outcome.allowed);
    fixture_close(&f);
}

static void nothing_is_applied_when_it_fails(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, POLICY("w:charge(request.user, 3)\n"
                            "if response.success == 'error' then error('no') end\n"
                            "if response.success == 'loop' then while true do end end"));
    assert_int_equal(remaining(&f, "bob"), 4);
    assert_int_equal(fixture_respond(&f, "bob", true, "error", T0), WEIR_POLICY);
    assert_has(f.error.message, "policy.lua:6: no");
    assert_int_equal(fixture_respond(&f, "bob", true, "loop", T0), WEIR_POLICY_BUDGET);
    assert_int_equal(remaining(&f, "bob"), 3);
    fixture_close(&f);
}

static void what_has_no_place_in_a_response(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *piece;
    } cases[] = {
        {POLICY("return w(request.user)"), "checks are for the function of the request"},
        {POLICY("weir.deny('late')"), "deny is for the function of the request"},
        {POLICY("c:refund('door', 'bob')"), "a concurrency limit has release alone"},
        {POLICY("w:release('bob', 'x')"), "only a concurrency limit has release"},
        {POLICY("w:refund(nil)"), "the key is nil"},
        {POLICY("w:refund('k', 1.5)"), "the cost was 1.5"},
        {POLICY("for i = 1, 33 do w:refund(i) end"), "more than 32 checks"},
        {POLICY("response.allowed = true"), "can't be changed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f;
        fixture_open(&f, cases[i].text);
        assert_int_equal(fixture_respond(&f, "bob", true, NULL, T0), WEIR_POLICY);
        assert_has(f.error.message, cases[i].piece);
        assert_has(f.error.message, "policy.lua:");
        fixture_close(&f);
    }
}

static void a_policy_without_one_does_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, "return function() return true end");
    assert_false(weir_policy_has_response(f.policy));
    respond_ok(&f, "bob", true, "yes");
    fixture_close(&f);
}

static void it_may_peek(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, POLICY("w:charge(request.user, w:peek(request.user).remaining)"));
    assert_int_equal(remaining(&f, "bob"), 4);
    respond_ok(&f, "bob", true, NULL);
    assert_int_equal(remaining(&f, "bob"), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_is_refunded),
        cmocka_unit_test(charges_may_pass_the_limit),
        cmocka_unit_test(a_place_is_released),
        cmocka_unit_test(nothing_is_applied_when_it_fails),
        cmocka_unit_test(what_has_no_place_in_a_response),
        cmocka_unit_test(a_policy_without_one_does_nothing),
        cmocka_unit_test(it_may_peek),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
