// C068: memory that runs out at any allocation is an error like another, and nothing leaks a
// connection.

#include <dlfcn.h>

#include "server.h"

static _Thread_local long until_failure = -1; // -1: never

static bool fails(void)
{
    return until_failure >= 0 && until_failure-- == 0;
}

// Stand in the C library's place, for hiredis too.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

static void c068_each_allocation_may_fail(void **state)
{
    (void)state;
    test_server server;
    SERVER(&server, "--databases", "2");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1000000, .window_us = WEIR_DAY);
    const weir_check check = check_of(&limit, "k", 1);
    const weir_redis_options options = {.url = server.url, .deadline_us = 5 * WEIR_SECOND};
    int failures = 0;
    bool passed = false;
    for (long nth = 0; !passed; nth++) {
        weir_store *store = NULL;
        weir_decision d;
        weir_error error = {0};
        until_failure = nth;
        weir_status status = weir_redis_open(&store, &options, &error);
        if (status == WEIR_OK) {
            status = weir_store_take(store, &check, 0, &d, &error);
        }
        passed = until_failure >= 0; // it came through without reaching the nth
        until_failure = -1;
        if (status != WEIR_OK) {
            failures++;
            assert_true(status == WEIR_NO_MEMORY || status == WEIR_INDETERMINATE);
            assert_true(error.message[0] != '\0');
        }
        if (store != NULL) { // which works again as soon as there is memory
            assert_int_equal(weir_store_take(store, &check, 0, &d, &error), WEIR_OK);
            weir_store_close(store);
        }
    }
    assert_true(failures > 3);
    test_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(c068_each_allocation_may_fail)};
    return cmocka_run_group_tests_name("redis memory", tests, NULL, NULL);
}
