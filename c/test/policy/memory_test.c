// The nth allocation fails, for each n: a status, never a crash, and nothing is left behind.

#include "support.h"

#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

// After the nth allocation has failed, every later one succeeds, or none does.
typedef enum outage { ONCE, FOR_GOOD } outage;

static outage kind;
static long left = -1; // how many allocations still succeed; negative: all
static bool failed;
static long live; // blocks that were not given back

static bool may_allocate(void)
{
    if (left < 0) {
        return true;
    }
    if (left > 0) {
        left--;
        return true;
    }
    failed = true;
    left = kind == ONCE ? -1 : 0;
    return false;
}

// Counts the block when it is one more.
static void *count(void *made, bool is_new)
{
    live += made != NULL && is_new;
    return made;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate() ? count(__real_malloc(size), true) : NULL;
}

void *__wrap_calloc(size_t items, size_t size)
{
    return may_allocate() ? count(__real_calloc(items, size), true) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    return may_allocate() ? count(__real_realloc(block, size), block == NULL) : NULL;
}

void __wrap_free(void *block)
{
    live -= block != NULL;
    __real_free(block);
}

static const char text[] =
    "local weir = require 'weir'\n"
    "local a = weir.fixed_window { name = 'a', limit = 100000, window = '1h' }\n"
    "local b = weir.sliding_log { name = 'b', limit = 100, window = '1h', shadow = true }\n"
    "return {\n"
    "  request = function(request)\n"
    "    local long = request.user:rep(500)\n"
    "    return { a(long), b(weir.address('::1')) }\n"
    "  end,\n"
    "  response = function(request) a:refund(request.user:rep(500)) end,\n"
    "}\n";

static void fail_after(long n)
{
    failed = false;
    left = n;
}

// Stops failing. Whether an allocation has failed.
static bool stop_failing(void)
{
    left = -1;
    return failed;
}

typedef struct road {
    weir_store *store;
    weir_policy *policy;
    weir_runner *runner;
    weir_error error;
} road;

static weir_status decide_and_respond(road *r)
{
    const weir_field user = {.name = "user", .text = "bob", .text_size = 3};
    const weir_request request = {.fields = &user, .count = 1, .time_us = T0};
    weir_outcome outcome;
    const weir_status status =
        weir_runner_decide(r->runner, r->store, &request, &outcome, &r->error);
    if (status != WEIR_OK) {
        return status;
    }
    assert_true(outcome.allowed);
    return weir_runner_respond(r->runner, r->store, &request, NULL, 0, true, &r->error);
}

static weir_status open_all(road *r)
{
    const weir_status status =
        weir_policy_open_text(&r->policy, "policy.lua", text, strlen(text), NULL, &r->error);
    return status == WEIR_OK ? weir_runner_open(&r->runner, r->policy, &r->error) : status;
}

static weir_status reload(road *r)
{
    return weir_policy_reload_text(r->policy, text, strlen(text), &r->error);
}

static void close_all(road *r)
{
    weir_runner_close(r->runner);
    weir_policy_close(r->policy);
    r->runner = NULL;
    r->policy = NULL;
}

// Lua may find room by collecting what is not used, so not every failure is felt.
static void assert_survived(const road *r, weir_status status)
{
    if (status != WEIR_OK) {
        assert_int_equal(status, WEIR_NO_MEMORY);
        assert_has(r->error.message, "memory could not be had");
    }
}

static bool open_with_failure(road *r, long n)
{
    fail_after(n);
    weir_status status = open_all(r);
    if (status == WEIR_OK) {
        status = decide_and_respond(r);
    }
    const bool did_fail = stop_failing();
    assert_survived(r, status);
    close_all(r);
    return did_fail;
}

// The policy that was there goes on when memory is back, so one serves all failures.
static bool reload_with_failure(road *r, long n)
{
    if (r->policy == NULL) {
        assert_int_equal(open_all(r), WEIR_OK);
    }
    fail_after(n);
    weir_status status = reload(r);
    if (status == WEIR_OK) {
        status = decide_and_respond(r);
    }
    const bool did_fail = stop_failing();
    assert_survived(r, status);
    if (status != WEIR_OK) {
        assert_int_equal(decide_and_respond(r), WEIR_OK);
    }
    return did_fail;
}

static void fail_each(bool (*run)(road *, long))
{
#if defined(__SANITIZE_THREAD__)
    skip(); // one thread, and ThreadSanitizer keeps what is freed
#endif
    road r = {.policy = NULL};
    assert_int_equal(weir_memory_open(&r.store, NULL, NULL), WEIR_OK);
    const long before = live;
    for (kind = ONCE; kind <= FOR_GOOD; kind++) {
        long n = 0;
        while (run(&r, n)) {
            n++;
        }
        assert_true(n > 100);
        close_all(&r);
        assert_int_equal(live, before);
    }
    weir_store_close(r.store);
}

static void every_allocation_of_an_open_may_fail(void **state)
{
    (void)state;
    fail_each(open_with_failure);
}

static void every_allocation_of_a_reload_may_fail(void **state)
{
    (void)state;
    fail_each(reload_with_failure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_of_an_open_may_fail),
                                       cmocka_unit_test(every_allocation_of_a_reload_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
