// Runners of two threads decide while a third reloads: for ThreadSanitizer, and for the count.

#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 50, DECISIONS = 20000, RELOADS = 300 };

static const char text[] = "local weir = require 'weir'\n"
                           "local w = weir.fixed_window { name = 'w', limit = 50, window = '1h' }\n"
                           "return function(request)\n"
                           "  if request.user == 'evil' then while true do end end\n"
                           "  return w(request.user)\n"
                           "end";

typedef struct shared {
    weir_policy *policy;
    weir_store *store;
    atomic_int allowed;
    atomic_int failed;
} shared;

static void *decide(void *context)
{
    shared *s = context;
    weir_runner *runner;
    if (weir_runner_open(&runner, s->policy, NULL) != WEIR_OK) {
        atomic_fetch_add(&s->failed, 1);
        return NULL;
    }
    for (int i = 0; i < DECISIONS; i++) {
        const bool evil = i % 5000 == 4999;
        const weir_field user = {
            .name = "user", .text = evil ? "evil" : "bob", .text_size = evil ? 4 : 3};
        const weir_request request = {.fields = &user, .count = 1, .time_us = T0};
        weir_outcome outcome;
        const weir_status status = weir_runner_decide(runner, s->store, &request, &outcome, NULL);
        if (status != (evil ? WEIR_POLICY_BUDGET : WEIR_OK)) {
            atomic_fetch_add(&s->failed, 1);
        } else if (!evil && outcome.allowed) {
            atomic_fetch_add(&s->allowed, 1);
        }
    }
    weir_runner_close(runner);
    return NULL;
}

static void *reload(void *context)
{
    shared *s = context;
    for (int i = 0; i < RELOADS; i++) {
        const bool bad = i % 3 == 2;
        const weir_status status =
            weir_policy_reload_text(s->policy, bad ? "return" : text, bad ? 6 : strlen(text), NULL);
        if (status != (bad ? WEIR_POLICY : WEIR_OK)) {
            atomic_fetch_add(&s->failed, 1);
        }
    }
    return NULL;
}

static void c186_a_limit_holds_before_during_and_after_a_reload(void **state)
{
    (void)state;
    shared s = {.policy = NULL};
    assert_int_equal(weir_policy_open_text(&s.policy, "policy.lua", text, strlen(text), NULL, NULL),
                     WEIR_OK);
    assert_int_equal(weir_memory_open(&s.store, NULL, NULL), WEIR_OK);
    pthread_t threads[3];
    assert_int_equal(pthread_create(&threads[0], NULL, decide, &s), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, decide, &s), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, reload, &s), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(s.failed, 0);
    assert_int_equal(s.allowed, LIMIT);
    weir_policy_close(s.policy);
    weir_store_close(s.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c186_a_limit_holds_before_during_and_after_a_reload)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
