// The policies in lua/policies do what they say.

#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 8 };

// Names and texts by turns, ended by NULL.
static size_t read_fields(weir_field *out, const char *const *pairs)
{
    size_t count = 0;
    for (; pairs[2 * count] != NULL; count++) {
        const char *text = pairs[2 * count + 1];
        out[count] = (weir_field){
            .name = pairs[2 * count], .text = text, .text_size = text ? strlen(text) : 0};
    }
    return count;
}

static void open_policy(fixture *f, const char *path)
{
    *f = (fixture){.policy = NULL};
    if (weir_policy_open(&f->policy, path, NULL, &f->error) != WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
    assert_int_equal(weir_runner_open(&f->runner, f->policy, &f->error), WEIR_OK);
    assert_int_equal(weir_memory_open(&f->store, NULL, &f->error), WEIR_OK);
}

static bool ask(fixture *f, int64_t time_us, const char *const *pairs)
{
    weir_field fields[FIELDS_MAX];
    const weir_request request = {
        .fields = fields, .count = read_fields(fields, pairs), .time_us = time_us};
    if (weir_runner_decide(f->runner, f->store, &request, &f->outcome, &f->error) != WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
    return f->outcome.allowed;
}

static void respond(fixture *f, int64_t time_us, const char *const *pairs,
                    const weir_field *response, bool allowed)
{
    weir_field fields[FIELDS_MAX];
    const weir_request request = {
        .fields = fields, .count = read_fields(fields, pairs), .time_us = time_us};
    if (weir_runner_respond(f->runner, f->store, &request, response, 1, allowed, &f->error) !=
        WEIR_OK) {
        fail_msg("%s", f->error.message);
    }
}

#define ASK(f, time_us, ...) ask(f, time_us, (const char *const[]){__VA_ARGS__, NULL})
#define RESPOND(f, time_us, response, ...)                                                         \
    respond(f, time_us, (const char *const[]){__VA_ARGS__, NULL}, response, true)

static void chat(void **state)
{
    (void)state;
    fixture f;
    open_policy(&f, WEIR_POLICIES "/chat.lua");
    for (int i = 0; i < 10; i++) {
        assert_true(ASK(&f, T0 + i * WEIR_SECOND, "user", "bob"));
    }
    assert_false(ASK(&f, T0 + 10 * WEIR_SECOND, "user", "bob"));
    assert_string_equal(f.outcome.binding->name, "messages");
    assert_true(ASK(&f, T0 + 10 * WEIR_SECOND, "user", "eve"));
    assert_false(ASK(&f, T0 + 10 * WEIR_SECOND + 499999, "user", "eve"));
    // the refusal was recorded: the gap is counted from it
    assert_false(ASK(&f, T0 + 10 * WEIR_SECOND + 999998, "user", "eve"));
    assert_true(ASK(&f, T0 + 11 * WEIR_SECOND + 499998, "user", "eve"));
    assert_true(ASK(&f, T0, "user", NULL, "address", "192.0.2.1"));
    fixture_close(&f);
}

static void login(void **state)
{
    (void)state;
    static const weir_field success = {.name = "success", .text = "yes", .text_size = 3};
    static const weir_field failure = {.name = "success"};
    fixture f;
    open_policy(&f, WEIR_POLICIES "/login.lua");
    for (int i = 0; i < 20; i++) { // who knows the password is not counted
        assert_true(ASK(&f, T0, "user", "bob", "address", "192.0.2.1"));
        RESPOND(&f, T0, &success, "user", "bob", "address", "192.0.2.1");
    }
    for (int i = 0; i < 5; i++) {
        assert_true(ASK(&f, T0, "user", "Bob ", "address", "2001:db8::1"));
        RESPOND(&f, T0, &failure, "user", "Bob ", "address", "2001:db8::1");
    }
    assert_false(ASK(&f, T0, "user", "eve", "address", "2001:db8::2"));
    assert_string_equal(f.outcome.binding->name, "login-network");
    assert_false(ASK(&f, T0, "user", "bob", "address", "192.0.2.1"));
    assert_string_equal(f.outcome.binding->name, "login-account");
    assert_true(ASK(&f, T0 + 15 * WEIR_MINUTE, "user", "bob", "address", "192.0.2.1"));
    fixture_close(&f);
}

static void api_plans(void **state)
{
    (void)state;
    fixture f;
    open_policy(&f, WEIR_POLICIES "/api_plans.lua");
    assert_true(ASK(&f, T0, "key", "k1", "plan", "free", "path", "/search/x"));
    assert_int_equal(f.outcome.decision.remaining, 5);
    assert_true(ASK(&f, T0, "key", "k1", "plan", NULL, "path", "/users"));
    assert_int_equal(f.outcome.decision.remaining, 4);
    assert_false(ASK(&f, T0, "key", "k1", "plan", "free", "path", "/export"));
    assert_true(ASK(&f, T0, "key", "k1", "plan", "team", "path", "/export"));
    assert_int_equal(f.outcome.decision.remaining, 90);
    assert_false(ASK(&f, T0, "key", "k1", "plan", "gold", "path", "/"));
    assert_string_equal(f.outcome.reason, "no such plan");
    fixture_close(&f);
}

static void ticket_sale(void **state)
{
    (void)state;
    fixture f;
    open_policy(&f, WEIR_POLICIES "/ticket_sale.lua");
    assert_true(ASK(&f, T0, "event", "e", "buyer", "bob", "tickets", "2"));
    assert_int_equal(f.outcome.rows[0].delay_us, 0);
    assert_true(ASK(&f, T0, "event", "e", "buyer", "eve"));
    assert_int_equal(f.outcome.rows[0].delay_us, 50000);
    assert_true(ASK(&f, T0 + WEIR_SECOND, "event", "e", "buyer", "bob", "tickets", "2"));
    assert_false(ASK(&f, T0 + 2 * WEIR_SECOND, "event", "e", "buyer", "bob", "tickets", "1"));
    assert_string_equal(f.outcome.binding->name, "quota");
    // T0 is midnight in UTC and 9 o'clock in UTC+9: the day ends 15 hours later
    assert_int_equal(f.outcome.decision.retry_after_us, 15 * WEIR_HOUR - 2 * WEIR_SECOND);
    assert_true(ASK(&f, T0 + 15 * WEIR_HOUR, "event", "e", "buyer", "bob", "tickets", "1"));
    assert_false(ASK(&f, T0, "event", "e", "buyer", "eve", "tickets", "many"));
    assert_string_equal(f.outcome.reason, "how many tickets?");
    fixture_close(&f);
}

static void llm_tokens(void **state)
{
    (void)state;
    const weir_field less = {.name = "tokens", .number = 500, .is_number = true};
    const weir_field more = {.name = "tokens", .number = 2500, .is_number = true};
    const weir_field fields[] = {
        {.name = "team", .text = "t", .text_size = 1},
        {.name = "prompt_bytes", .number = 4001, .is_number = true},
        {.name = "max_tokens", .number = 999, .is_number = true},
    };
    const weir_request request = {.fields = fields, .count = 3, .time_us = T0};
    const int64_t burst = 200000;
    fixture f;
    open_policy(&f, WEIR_POLICIES "/llm_tokens.lua");
    assert_int_equal(weir_runner_decide(f.runner, f.store, &request, &f.outcome, &f.error),
                     WEIR_OK);
    assert_int_equal(f.outcome.decision.remaining, burst - 2000);
    assert_int_equal(weir_runner_respond(f.runner, f.store, &request, &less, 1, true, &f.error),
                     WEIR_OK);
    assert_int_equal(weir_runner_decide(f.runner, f.store, &request, &f.outcome, &f.error),
                     WEIR_OK);
    assert_int_equal(f.outcome.decision.remaining, burst - 500 - 2000);
    assert_int_equal(weir_runner_respond(f.runner, f.store, &request, &more, 1, true, &f.error),
                     WEIR_OK);
    assert_int_equal(weir_runner_decide(f.runner, f.store, &request, &f.outcome, &f.error),
                     WEIR_OK);
    assert_int_equal(f.outcome.decision.remaining, burst - 500 - 2500 - 2000);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chat),        cmocka_unit_test(login),      cmocka_unit_test(api_plans),
        cmocka_unit_test(ticket_sale), cmocka_unit_test(llm_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
