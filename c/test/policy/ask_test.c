// A policy's part of a decision alone: what it said, for a host that keeps its limits elsewhere.

#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD                                                                                       \
    "local weir = require 'weir'\n"                                                                \
    "local w = weir.fixed_window { name = 'w', limit = 5, window = '1h' }\n"                       \
    "local s = weir.fixed_window { name = 's', limit = 1, window = '1h', shadow = true }\n"        \
    "local c = weir.concurrency { name = 'c', limit = 1, ttl = '1h' }\n"

#define BODY(text) HEAD "return function(request) " text " end"

#define RESPONSE(text)                                                                             \
    HEAD "return { request = function() return true end,\n"                                        \
         "response = function(request, response) " text " end }"

static weir_status ask(fixture *f, weir_store *store, int64_t time_us, weir_verdict *out)
{
    const weir_field user = {.name = "user", .text = "bob", .text_size = 3};
    const weir_request request = {.fields = &user, .count = 1, .time_us = time_us};
    f->error.message[0] = '\0';
    return weir_runner_ask(f->runner, store, &request, out, &f->error);
}

static weir_status settle(fixture *f, weir_store *store, int64_t time_us, weir_settlement *out)
{
    const weir_field used = {.name = "used", .number = 3, .is_number = true};
    const weir_field user = {.name = "user", .text = "bob", .text_size = 3};
    const weir_request request = {.fields = &user, .count = 1, .time_us = time_us};
    f->error.message[0] = '\0';
    return weir_runner_settle(f->runner, store, &request, &used, 1, true, out, &f->error);
}

static void assert_nothing_recorded(const fixture *f)
{
    weir_counters counters;
    assert_int_equal(weir_memory_counters(f->store, &counters), WEIR_OK);
    assert_int_equal(counters.keys, 0);
}

static void it_says_which_checks_to_take(void **state)
{
    (void)state;
    fixture f;
    weir_verdict said;
    fixture_open(&f, BODY("return w(request.user, 2), s('all'), c('door', request.user)"));
    assert_int_equal(ask(&f, f.store, T0, &said), WEIR_OK);
    assert_false(said.refused);
    assert_null(said.reason);
    assert_int_equal(said.count, 3);
    assert_int_equal(said.time_us, T0);
    assert_string_equal(said.checks[0].limit->name, "w");
    assert_int_equal(said.checks[0].cost, 2);
    assert_memory_equal(said.checks[0].key, "bob", 3);
    assert_memory_equal(said.checks[2].id, "bob", 3);
    assert_false(said.shadow[0]);
    assert_true(said.shadow[1]);
    assert_nothing_recorded(&f);

    const weir_limit *const *limits;
    assert_int_equal(weir_policy_limits(f.policy, &limits, NULL), 3);
    assert_ptr_equal(said.checks[2].limit, limits[2]);
    fixture_close(&f);
}

static void it_says_that_it_refuses(void **state)
{
    (void)state;
    fixture f;
    weir_verdict said;
    fixture_open(&f, BODY("return w(request.user), weir.deny('not today')"));
    assert_int_equal(ask(&f, f.store, T0, &said), WEIR_OK);
    assert_true(said.refused);
    assert_string_equal(said.reason, "not today");
    assert_int_equal(said.count, 0);
    fixture_close(&f);
}

// 0 leaves it to the store, whose clock is read once.
static void the_time_is_the_requests_or_what_the_policy_read(void **state)
{
    (void)state;
    fixture f;
    weir_verdict said;
    fixture_open(&f, BODY("return w(request.user)"));
    assert_int_equal(ask(&f, f.store, 0, &said), WEIR_OK);
    assert_int_equal(said.time_us, 0);
    fixture_close(&f);

    fixture_open(&f, BODY("return w(request.time)"));
    assert_int_equal(ask(&f, f.store, 0, &said), WEIR_OK);
    assert_int_not_equal(said.time_us, 0);
    fixture_close(&f);
}

static void without_a_store_its_time_is_this_hosts(void **state)
{
    (void)state;
    fixture f;
    weir_verdict said;
    const int64_t before = (int64_t)time(NULL) - 1;
    fixture_open(&f, BODY("return w(request.time // 1000000)"));
    assert_int_equal(ask(&f, NULL, 0, &said), WEIR_OK);
    char text[32] = "";
    assert_true(said.checks[0].key_size < sizeof text);
    memcpy(text, said.checks[0].key, said.checks[0].key_size);
    const int64_t read = strtoll(text, NULL, 10);
    assert_true(read >= before && read <= (int64_t)time(NULL));
    assert_int_equal(said.time_us, 0);
    assert_int_equal(ask(&f, NULL, T0, &said), WEIR_OK);
    assert_int_equal(said.time_us, T0);
    fixture_close(&f);
}

static void without_a_store_it_can_peek_at_none(void **state)
{
    (void)state;
    fixture f;
    weir_verdict said;
    weir_settlement asked;
    fixture_open(&f, BODY("return w:peek(request.user).remaining > 0"));
    assert_int_equal(ask(&f, NULL, T0, &said), WEIR_POLICY);
    assert_string_equal(f.error.message, "policy.lua:5: limit 'w': peek needs a store in this "
                                         "process, and there is none");
    assert_int_equal(ask(&f, f.store, T0, &said), WEIR_OK);
    assert_false(said.refused);
    fixture_close(&f);

    fixture_open(&f, RESPONSE("w:charge(request.user, w:peek(request.user).remaining)"));
    assert_int_equal(settle(&f, NULL, T0, &asked), WEIR_POLICY);
    assert_int_equal(asked.count, 0);
    assert_has(f.error.message, "peek needs a store in this process");
    fixture_close(&f);
}

static void it_says_how_to_settle(void **state)
{
    (void)state;
    fixture f;
    weir_settlement asked;
    fixture_open(&f, RESPONSE("w:refund(request.user, response.used) s:charge('all', 7)\n"
                              "c:release('door', request.user)"));
    assert_int_equal(settle(&f, NULL, T0, &asked), WEIR_OK);
    assert_int_equal(asked.count, 3);
    assert_int_equal(asked.time_us, T0);
    assert_int_equal(asked.verbs[0], WEIR_SETTLE_REFUND);
    assert_int_equal(asked.verbs[1], WEIR_SETTLE_CHARGE);
    assert_int_equal(asked.verbs[2], WEIR_SETTLE_RELEASE);
    assert_int_equal(asked.checks[0].cost, 3);
    assert_memory_equal(asked.checks[0].key, "bob", 3);
    assert_string_equal(asked.checks[1].limit->name, "s");
    assert_int_equal(asked.checks[1].cost, 7);
    assert_memory_equal(asked.checks[2].id, "bob", 3);
    assert_nothing_recorded(&f);
    fixture_close(&f);
}

static void nothing_is_to_settle_when_it_has_no_response_or_fails(void **state)
{
    (void)state;
    fixture f;
    weir_settlement asked;
    fixture_open(&f, BODY("return true"));
    assert_int_equal(settle(&f, NULL, T0, &asked), WEIR_OK);
    assert_int_equal(asked.count, 0);
    fixture_close(&f);

    fixture_open(&f, RESPONSE("w:charge(request.user) error('no')"));
    assert_int_equal(settle(&f, NULL, T0, &asked), WEIR_POLICY);
    assert_int_equal(asked.count, 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_which_checks_to_take),
        cmocka_unit_test(it_says_that_it_refuses),
        cmocka_unit_test(the_time_is_the_requests_or_what_the_policy_read),
        cmocka_unit_test(without_a_store_its_time_is_this_hosts),
        cmocka_unit_test(without_a_store_it_can_peek_at_none),
        cmocka_unit_test(it_says_how_to_settle),
        cmocka_unit_test(nothing_is_to_settle_when_it_has_no_response_or_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
