// What a policy may return, and what comes of it.

#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "local weir = require 'weir'\n"                                                                \
    "local a = weir.fixed_window { name = 'a', limit = 2, window = '1m' }\n"                       \
    "local b = weir.fixed_window { name = 'b', limit = 5, window = '1m' }\n"                       \
    "local s = weir.fixed_window { name = 's', limit = 1, window = '1m', shadow = true }\n"        \
    "local c = weir.concurrency { name = 'c', limit = 1, ttl = '1m' }\n"

// A policy whose function of the request has this body.
#define BODY(text) HEAD "return function(request) " text " end"

static void ask_ok(fixture *f, const char *user, bool allowed)
{
    if (fixture_ask(f, user, T0) != WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
    assert_int_equal(f->outcome.allowed, allowed);
}

// The body makes an error with these pieces in its sentence, and nothing is recorded.
static void assert_wrong(const char *text, const char *piece, const char *other)
{
    fixture f;
    fixture_open(&f, text);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY);
    assert_has(f.error.message, "policy.lua:");
    assert_has(f.error.message, piece);
    assert_has(f.error.message, other);
    weir_counters counters;
    assert_int_equal(weir_memory_counters(f.store, &counters), WEIR_OK);
    assert_int_equal(counters.keys, 0);
    fixture_close(&f);
}

static void all_checks_must_pass(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a(request.user), b(request.user, 2)"));
    ask_ok(&f, "bob", true);
    assert_int_equal(f.outcome.count, 2);
    assert_string_equal(f.outcome.checks[0].limit->name, "a");
    assert_string_equal(f.outcome.checks[1].limit->name, "b");
    assert_int_equal(f.outcome.checks[1].cost, 2);
    assert_memory_equal(f.outcome.checks[1].key, "bob", 3);
    assert_int_equal(f.outcome.rows[1].remaining, 3);
    assert_string_equal(f.outcome.binding->name, "a");
    ask_ok(&f, "bob", true);
    ask_ok(&f, "bob", false);
    assert_string_equal(f.outcome.binding->name, "a");
    assert_int_equal(f.outcome.decision.retry_after_us, WEIR_MINUTE);
    assert_int_equal(f.outcome.rows[1].remaining, 1);
    ask_ok(&f, "eve", true);
    fixture_close(&f);
}

static void a_list_of_checks_is_fine(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return { a(request.user), b(request.user) }"));
    ask_ok(&f, "bob", true);
    assert_int_equal(f.outcome.count, 2);
    fixture_close(&f);
}

static void true_passes_without_a_limit(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return true"));
    ask_ok(&f, "bob", true);
    assert_int_equal(f.outcome.count, 0);
    assert_null(f.outcome.binding);
    assert_null(f.outcome.reason);
    assert_int_equal(f.outcome.decision.limit, 0);
    fixture_close(&f);
}

static void true_beside_checks_says_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return true, a(request.user, 2)"));
    ask_ok(&f, "bob", true);
    ask_ok(&f, "bob", false);
    fixture_close(&f);
}

static void false_refuses_and_takes_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a(request.user), request.user ~= 'eve'"));
    for (int i = 0; i < 5; i++) {
        ask_ok(&f, "eve", false);
        assert_int_equal(f.outcome.count, 0);
        assert_null(f.outcome.reason);
    }
    ask_ok(&f, "bob", true);
    fixture_close(&f);
}

static void deny_refuses_with_a_reason(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return weir.deny('no such plan\\27\\n'), a(request.user)"));
    ask_ok(&f, "bob", false);
    assert_string_equal(f.outcome.reason, "no such plan??");
    fixture_close(&f);

    fixture_open(&f, BODY("return weir.deny(('r'):rep(10000))"));
    ask_ok(&f, "bob", false);
    assert_int_equal(strlen(f.outcome.reason), 255);
    fixture_close(&f);

    fixture_open(&f, BODY("weir.deny('made and not returned') return true"));
    ask_ok(&f, "bob", true);
    assert_null(f.outcome.reason);
    fixture_close(&f);
}

static void what_is_no_decision_is_an_error(void **state)
{
    (void)state;
    assert_wrong(BODY(""), "returned nothing", "true, false or weir.deny");
    assert_wrong(BODY("return nil"), "returned nil", "");
    assert_wrong(BODY("return a(request.user), nil"), "returned nil", "");
    assert_wrong(BODY("return 1"), "returned number", "");
    assert_wrong(BODY("return 0/0"), "returned number", "");
    assert_wrong(BODY("return 'yes'"), "returned string", "");
    assert_wrong(BODY("return {}"), "empty table", "");
    assert_wrong(BODY("return { x = a(request.user) }"), "not a list", "");
    assert_wrong(BODY("return { a(request.user), nil, b(request.user) }"), "not a list", "");
    assert_wrong(BODY("return { { a(request.user) } }"), "list within a list", "");
    assert_wrong(BODY("return { a(request.user) }, b(request.user)"), "returned table", "");
    assert_wrong(BODY("return a"), "a limit, which must be called", "");
    assert_wrong(BODY("return request"), "the request itself", "");
    assert_wrong(BODY("return function() end"), "returned function", "");
    assert_wrong(BODY("return a(request.user), a(request.user)"), "limit 'a' twice", "same key");
    assert_wrong(BODY("local r = {} for i = 1, 33 do r[i] = a(i) end return r"),
                 "more than 32 checks", ":");
}

static void errors_name_file_and_line(void **state)
{
    (void)state;
    assert_wrong("return function(request)\n\n  error('on line 3')\nend",
                 "policy.lua:3:", "on line 3");
    assert_wrong("return function(request)\n  return request.user.name.x\nend",
                 "policy.lua:2:", "nil value");
    assert_wrong("return function(request) error('bare', 0) end", "policy.lua: bare", "");
    assert_wrong("return function(request) error({}) end", "an error that is a table", "");
    assert_wrong("return function(request) error() end", "an error that is a nil", "");
    assert_wrong("return function(request) error('a\\27[31m\\nb', 0) end", "a?[31m?b", "");
}

static void c101_keys_that_are_missing_are_errors(void **state)
{
    (void)state;
    assert_wrong(BODY("return a(nil)"), "limit 'a': the key is nil", "policy.lua:6:");
    assert_wrong(BODY("return a()"), "the key is no value", "limit 'a'");
    assert_wrong(BODY("return a(request.nobody)"), "the key is nil", "limit 'a'");
    assert_wrong(BODY("return a(false)"), "the key is false", "limit 'a'");
    assert_wrong(BODY("return a('')"), "the key is empty", "limit 'a'");
    assert_wrong(BODY("return a({})"), "the key is table", "limit 'a'");
    assert_wrong(BODY("return a(1.5)"), "the key is 1.5", "limit 'a'");
    assert_wrong(BODY("return a(0/0)"), "the key is", "limit 'a'");
    assert_wrong(BODY("return a(1/0)"), "the key is inf", "limit 'a'");
    assert_wrong(BODY("return a(weir.address('1.2.3.4.5'))"), "1.2.3.4.5", "the key is nil");
    assert_wrong(BODY("return c('bob')"), "the id is no value", "limit 'c'");
    assert_wrong(BODY("return c('bob', '')"), "the id is empty", "limit 'c'");
}

static void whole_numbers_are_keys_written_exactly(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a(9007199254740993), b(3.0)"));
    ask_ok(&f, "bob", true);
    assert_int_equal(f.outcome.checks[0].key_size, 16);
    assert_memory_equal(f.outcome.checks[0].key, "9007199254740993", 16);
    assert_int_equal(f.outcome.checks[1].key_size, 1);
    assert_memory_equal(f.outcome.checks[1].key, "3", 1);
    fixture_close(&f);
}

static void keys_may_hold_any_byte(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a(request.user, 2)"));
    weir_field one = {.name = "user", .text = "a\0b", .text_size = 3};
    weir_field two = {.name = "user", .text = "a\0c", .text_size = 3};
    assert_int_equal(fixture_ask_field(&f, one, T0), WEIR_OK);
    assert_true(f.outcome.allowed);
    assert_int_equal(f.outcome.checks[0].key_size, 3);
    assert_int_equal(fixture_ask_field(&f, two, T0), WEIR_OK);
    assert_true(f.outcome.allowed);
    assert_int_equal(fixture_ask_field(&f, one, T0), WEIR_OK);
    assert_false(f.outcome.allowed);
    fixture_close(&f);
}

static void c096_long_keys_are_apart_and_bounded(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("local k = ('x'):rep(1000) return a(k .. request.user, 2)"));
    ask_ok(&f, "a", true);
    ask_ok(&f, "b", true);
    ask_ok(&f, "a", false);
    fixture_close(&f);
    assert_wrong(
        BODY("local k = ('x'):rep(65000) return a(k..1), a(k..2), a(k..3), a(k..4), a(k..5)"),
        "the keys of one call have more than 262144 bytes", "policy.lua:6:");
}

static void c098_a_policy_may_normalise(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a(request.user:lower():match('^%s*(.-)%s*$'), 2)"));
    ask_ok(&f, "Nick@Example.com ", true);
    ask_ok(&f, "nick@example.com", false);
    fixture_close(&f);
    fixture_open(&f, BODY("return a(request.user, 2)"));
    ask_ok(&f, "Nick@Example.com ", true);
    ask_ok(&f, "nick@example.com", true);
    fixture_close(&f);
}

static void c087_costs_are_whole_numbers_in_range(void **state)
{
    (void)state;
    assert_wrong(BODY("return a('k', 1.5)"), "the cost was 1.5", "limit 'a'");
    assert_wrong(BODY("return a('k', 0/0)"), "the cost was", "nan");
    assert_wrong(BODY("return a('k', 1/0)"), "the cost was inf", "limit 'a'");
    assert_wrong(BODY("return a('k', -1/0)"), "the cost was -inf", "limit 'a'");
    assert_wrong(BODY("return a('k', -1)"), "the cost was -1", "limit 'a'");
    assert_wrong(BODY("return a('k', '5')"), "the cost was the text 5", "limit 'a'");
    assert_wrong(BODY("return a('k', 2^53 + 1)"), "the cost was 9.007", "limit 'a'");
    assert_wrong(BODY("return a('k', 9007199254740993)"), "the cost was 9007199254740993", "");
    assert_wrong(BODY("return a('k', 1e300)"), "the cost was 1e+300", "limit 'a'");
    assert_wrong(BODY("return a('k', true)"), "the cost was boolean", "limit 'a'");
    assert_wrong(BODY("return a('k', {})"), "the cost was table", "limit 'a'");
    fixture f;
    fixture_open(&f, BODY("return a('k', 0), b('k', 5.0)"));
    ask_ok(&f, "bob", true);
    assert_int_equal(f.outcome.checks[0].cost, 0);
    assert_int_equal(f.outcome.checks[1].cost, 5);
    fixture_close(&f);
}

static void a_cost_above_the_limit_never_passes(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a('k', 3)"));
    ask_ok(&f, "bob", false);
    assert_int_equal(f.outcome.decision.retry_after_us, WEIR_NEVER);
    fixture_close(&f);
}

static void shadow_reports_and_never_refuses(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return s(request.user), a(request.user)"));
    ask_ok(&f, "bob", true);
    assert_true(f.outcome.shadow[0]);
    assert_false(f.outcome.shadow[1]);
    assert_true(f.outcome.rows[0].allowed);
    assert_int_equal(f.outcome.decision.binding, 1);
    assert_string_equal(f.outcome.binding->name, "a");
    ask_ok(&f, "bob", true);
    assert_false(f.outcome.rows[0].allowed);
    assert_int_equal(f.outcome.rows[0].retry_after_us, WEIR_MINUTE);
    ask_ok(&f, "bob", false);
    assert_int_equal(f.outcome.decision.binding, 1);
    fixture_close(&f);
}

static void shadow_is_peeked_at_when_the_others_refuse(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return s(request.user), a('all', 3)"));
    ask_ok(&f, "bob", false);
    ask_ok(&f, "bob", false);
    assert_true(f.outcome.rows[0].allowed); // nothing was taken
    assert_int_equal(f.outcome.rows[0].remaining, 1);
    fixture_close(&f);
}

static void shadow_alone_always_passes(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return s(request.user)"));
    for (int i = 0; i < 3; i++) {
        ask_ok(&f, "bob", true);
        assert_int_equal(f.outcome.rows[0].allowed, i == 0);
        assert_null(f.outcome.binding);
    }
    fixture_close(&f);
}

static void concurrency_takes_an_id(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return c('door', request.user)"));
    ask_ok(&f, "bob", true);
    ask_ok(&f, "bob", true);
    ask_ok(&f, "eve", false);
    fixture_close(&f);
}

static void peek_answers_a_row_and_takes_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f,
                 BODY("local row = a:peek(request.user, 2)\n"
                      "if not row.allowed then return weir.deny('left '..row.remaining..' of '..\n"
                      "  row.limit..' '..row.retry_after_us..' '..row.reset_after_us..' '..\n"
                      "  row.delay_us) end\n"
                      "return a(request.user)"));
    ask_ok(&f, "bob", true);
    ask_ok(&f, "bob", false);
    ask_ok(&f, "bob", false);
    assert_string_equal(f.outcome.reason, "left 1 of 2 60000000 60000000 0");
    fixture_close(&f);
}

static void c171_the_only_clock_is_the_time_of_the_request(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return weir.deny(request.time .. ' ' .. request.time)"));
    assert_int_equal(fixture_ask(&f, "bob", 1234567890123456), WEIR_OK);
    assert_string_equal(f.outcome.reason, "1234567890123456 1234567890123456");
    fixture_close(&f);
    static const char *const clocks[] = {"os", "io", "debug", "time", "clock", "socket"};
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "return function(request) return %s == nil end", clocks[i]);
        fixture_open(&f, text);
        ask_ok(&f, "bob", true);
        fixture_close(&f);
    }
}

static int64_t stopped_clock(void *context)
{
    (void)context;
    return 77 * WEIR_SECOND;
}

static void without_a_time_the_clock_is_the_store_s(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return weir.deny(tostring(request.time))"));
    weir_store_close(f.store);
    const weir_clock clock = {stopped_clock, NULL};
    const weir_memory_options options = {.clock = &clock};
    assert_int_equal(weir_memory_open(&f.store, &options, NULL), WEIR_OK);
    assert_int_equal(fixture_ask(&f, "bob", 0), WEIR_OK);
    assert_string_equal(f.outcome.reason, "77000000");
    fixture_close(&f);
}

static void handles_of_another_call_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, HEAD "local kept\n"
                          "return function(request)\n"
                          "  if kept then return kept.user == 'bob' end\n"
                          "  kept = request\n"
                          "  return true\n"
                          "end");
    ask_ok(&f, "bob", true);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY);
    assert_has(f.error.message, "can't be read after its call");
    fixture_close(&f);

    fixture_open(&f, HEAD "local kept\n"
                          "return function(request)\n"
                          "  kept = kept or a(request.user)\n"
                          "  return kept\n"
                          "end");
    ask_ok(&f, "bob", true);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY);
    assert_has(f.error.message, "made for another request");
    fixture_close(&f);

    fixture_open(&f, HEAD "local kept\n"
                          "return function(request)\n"
                          "  kept = kept or weir.deny('then')\n"
                          "  return kept\n"
                          "end");
    ask_ok(&f, "bob", false);
    assert_int_equal(fixture_ask(&f, "bob", T0), WEIR_POLICY);
    fixture_close(&f);
}

static void requests_are_read_only(void **state)
{
    (void)state;
    assert_wrong(BODY("request.user = 'eve' return true"), "a request can't be changed", "");
    assert_wrong(BODY("a.limit = 1 return true"), "limit 'a' can't be changed", "");
    assert_wrong(BODY("return a('k').user"), "a check has no fields", "");
    assert_wrong(BODY("for k in pairs(request) do end return true"), "table expected", "");
    assert_wrong(BODY("return a.peek(request, 'k')"), "peek is a method", ":peek");
    assert_wrong(BODY("return a:refund('k')"), "refund is for the function of the response", "");
    assert_wrong(BODY("weir.deny = nil return true"), "the module weir can't be changed", "");
    assert_wrong(BODY("return weir.min_gap { name = 'late', gap = '1s' }"),
                 "limits are made while the policy loads", "min_gap");
}

static void only_fields_that_are_there_are_read(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return request.user == nil and request.other == nil and request[1] == "
                          "nil and request[request] == nil"));
    ask_ok(&f, NULL, true);
    fixture_close(&f);
}

static void numbers_are_integers_when_whole(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return weir.deny(math.type(request.n) .. ' ' .. request.n)"));
    assert_int_equal(
        fixture_ask_field(&f, (weir_field){.name = "n", .number = 3, .is_number = 1}, T0), WEIR_OK);
    assert_string_equal(f.outcome.reason, "integer 3");
    assert_int_equal(
        fixture_ask_field(&f, (weir_field){.name = "n", .number = 0.5, .is_number = 1}, T0),
        WEIR_OK);
    assert_string_equal(f.outcome.reason, "float 0.5");
    assert_int_equal(
        fixture_ask_field(&f, (weir_field){.name = "n", .number = NAN, .is_number = 1}, T0),
        WEIR_OK);
    fixture_close(&f);
}

static void long_fields_are_refused_or_cut(void **state)
{
    (void)state;
    static char text[9000];
    memset(text, 'x', sizeof text);
    const weir_field field = {.name = "user", .text = text, .text_size = sizeof text};
    fixture f;
    fixture_open(&f, BODY("return weir.deny(tostring(#request.user))"));
    assert_int_equal(fixture_ask_field(&f, field, T0), WEIR_POLICY);
    assert_has(f.error.message, "field 'user' has 9000 bytes; a policy may read 8192");
    fixture_close(&f);
    const weir_policy_options options = {.cut_fields = true};
    fixture_open_with(&f, BODY("return weir.deny(tostring(#request.user))"), &options);
    assert_int_equal(fixture_ask_field(&f, field, T0), WEIR_OK);
    assert_string_equal(f.outcome.reason, "8192");
    fixture_close(&f);
    fixture_open(&f, BODY("return true"));
    assert_int_equal(fixture_ask_field(&f, field, T0), WEIR_OK); // not read
    fixture_close(&f);
}

static void c095_addresses_are_networks(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        const char *key; // NULL: refused
    } cases[] = {
        {"2001:db8::1", "2001:db8::/64"},
        {"2001:0DB8:0:0::1", "2001:db8::/64"},
        {"2001:db8:0:0:ffff::9", "2001:db8::/64"},
        {"2001:db8:0:1::1", "2001:db8:0:1::/64"},
        {"192.0.2.1", "192.0.2.1"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"::ffff:c000:201", "192.0.2.1"},
        {"fe80::1%eth0", "fe80::/64"},
        {"[::1]:443", NULL},
        {"[::1]", NULL},
        {"192.0.2.1:80", NULL},
        {"1.2.3.4.5", NULL},
        {"1.2.3", NULL},
        {"01.2.3.4", NULL},
        {"1.2.3.256", NULL},
        {" 1.2.3.4", NULL},
        {"1::2::3", NULL},
        {"1:2:3:4:5:6:7:8:9", NULL},
        {"12345::", NULL},
        {"unknown", NULL},
        {"", NULL},
    };
    fixture f;
    fixture_open(&f, BODY("return b(weir.address(request.user, 64))"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const weir_status status = fixture_ask(&f, cases[i].address, T0);
        if (cases[i].key == NULL) {
            assert_int_equal(status, WEIR_POLICY);
            assert_has(f.error.message, "it must be an IPv4 or IPv6 address");
            continue;
        }
        assert_int_equal(status, WEIR_OK);
        assert_int_equal(f.outcome.checks[0].key_size, strlen(cases[i].key));
        assert_memory_equal(f.outcome.checks[0].key, cases[i].key, strlen(cases[i].key));
    }
    assert_int_equal(fixture_ask(&f, NULL, T0), WEIR_POLICY);
    fixture_close(&f);
}

static void the_longest_run_of_zeros_is_cut(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return weir.deny(weir.address('2001:0:0:1:0:0:0:1', 128) .. ' ' ..\n"
                          "weir.address('1:0:0:2:0:0:3:4', 128) .. ' ' ..\n"
                          "weir.address('1:0:2:3:4:5:6:7', 128) .. ' ' ..\n"
                          "weir.address('ffff:ffff::', 20) .. ' ' .. weir.address('::', 0) .. ' '\n"
                          ".. weir.address('192.0.2.255', 64, 25))"));
    ask_ok(&f, "bob", false);
    assert_string_equal(f.outcome.reason, "2001:0:0:1::1 1::2:0:0:3:4 1:0:2:3:4:5:6:7 "
                                          "ffff:f000::/20 ::/0 192.0.2.128/25");
    fixture_close(&f);
    assert_wrong(BODY("return a(weir.address('::1', 129))"), "bits was 129", "policy.lua:6:");
    assert_wrong(BODY("return a(weir.address('::1', 1.5))"), "bits was 1.5", "policy.lua:6:");
}

static void what_is_recorded_is_the_store_s(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, BODY("return a(request.user)"));
    ask_ok(&f, "bob", true);
    ask_ok(&f, "bob", true);
    weir_store *first = f.store;
    assert_int_equal(weir_memory_open(&f.store, NULL, NULL), WEIR_OK);
    ask_ok(&f, "bob", true);
    weir_store_close(f.store);
    f.store = first;
    ask_ok(&f, "bob", false);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_checks_must_pass),
        cmocka_unit_test(a_list_of_checks_is_fine),
        cmocka_unit_test(true_passes_without_a_limit),
        cmocka_unit_test(true_beside_checks_says_nothing),
        cmocka_unit_test(false_refuses_and_takes_nothing),
        cmocka_unit_test(deny_refuses_with_a_reason),
        cmocka_unit_test(what_is_no_decision_is_an_error),
        cmocka_unit_test(errors_name_file_and_line),
        cmocka_unit_test(c101_keys_that_are_missing_are_errors),
        cmocka_unit_test(whole_numbers_are_keys_written_exactly),
        cmocka_unit_test(keys_may_hold_any_byte),
        cmocka_unit_test(c096_long_keys_are_apart_and_bounded),
        cmocka_unit_test(c098_a_policy_may_normalise),
        cmocka_unit_test(c087_costs_are_whole_numbers_in_range),
        cmocka_unit_test(a_cost_above_the_limit_never_passes),
        cmocka_unit_test(shadow_reports_and_never_refuses),
        cmocka_unit_test(shadow_is_peeked_at_when_the_others_refuse),
        cmocka_unit_test(shadow_alone_always_passes),
        cmocka_unit_test(concurrency_takes_an_id),
        cmocka_unit_test(peek_answers_a_row_and_takes_nothing),
        cmocka_unit_test(c171_the_only_clock_is_the_time_of_the_request),
        cmocka_unit_test(without_a_time_the_clock_is_the_store_s),
        cmocka_unit_test(handles_of_another_call_are_refused),
        cmocka_unit_test(requests_are_read_only),
        cmocka_unit_test(only_fields_that_are_there_are_read),
        cmocka_unit_test(numbers_are_integers_when_whole),
        cmocka_unit_test(long_fields_are_refused_or_cut),
        cmocka_unit_test(c095_addresses_are_networks),
        cmocka_unit_test(the_longest_run_of_zeros_is_cut),
        cmocka_unit_test(what_is_recorded_is_the_store_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
