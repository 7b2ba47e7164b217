// Threads and forks share a store: each call has its own connection, each answer its own caller.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"
#include "server.h"
#include "store/redis/deadline.h"
#include "store/redis/pool.h"
#include "watch.h"

static test_server server;

static int start(void **state)
{
    (void)state;
    SERVER(&server, "--databases", "1");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

enum { THREADS = 8, TAKES = 300 };

typedef struct worker {
    pthread_t thread;
    weir_store *store;
    const weir_limit *own;
    const weir_limit *shared;
    int number;
    int allowed;
    int failed;
} worker;

// Each thread alone sees its own key go down one by one; together they get of the shared key what
// there is.
static void *work(void *argument)
{
    worker *w = argument;
    char key[16];
    snprintf(key, sizeof key, "own %d", w->number);
    for (int i = 0; i < TAKES; i++) {
        weir_decision d;
        const weir_check own = check_of(w->own, key, 1), shared = check_of(w->shared, "shared", 1);
        if (weir_store_take(w->store, &own, NOW, &d, NULL) != WEIR_OK ||
            d.remaining != TAKES - 1 - i) {
            w->failed++;
        }
        if (weir_store_take(w->store, &shared, NOW, &d, NULL) != WEIR_OK) {
            w->failed++;
        }
        w->allowed += d.allowed;
    }
    return NULL;
}

static void run_threads(const char *url, const char *query, const char *name)
{
    weir_store *store = test_redis(url, query);
    const weir_limit own =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = TAKES, .window_us = WEIR_DAY);
    const weir_limit shared = test_limit(&(weir_limit_options){
        .name = name, .algorithm = WEIR_FIXED_WINDOW, .limit = 1000, .window_us = WEIR_DAY});
    worker workers[THREADS];
    int allowed = 0;
    test_ask(&server, "FLUSHALL");
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.store = store, .own = &own, .shared = &shared, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].failed, 0);
        allowed += workers[i].allowed;
    }
    assert_int_equal(allowed, 1000);
    weir_store_close(store);
}

static void c073_threads_share_a_store(void **state)
{
    (void)state;
    run_threads(server.url, "?deadline=20s", "as many as threads");
    run_threads(server.url, "?deadline=20s&connections=3", "fewer than threads");
}

static void *flush(void *argument)
{
    const bool *ended = argument;
    while (!__atomic_load_n(ended, __ATOMIC_RELAXED)) {
        test_ask(&server, "SCRIPT FLUSH");
    }
    return NULL;
}

static void c051_threads_count_once_while_scripts_are_flushed(void **state)
{
    (void)state;
    bool ended = false;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, flush, &ended), 0);
    run_threads(server.url, "?deadline=20s", "flushed");
    __atomic_store_n(&ended, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static void a_call_beyond_the_connections_waits_until_its_deadline(void **state)
{
    (void)state;
    weir_settings settings;
    const weir_redis_options options = {.url = server.url, .connections = 1};
    assert_int_equal(weir_settings_init(&settings, &options, NULL), WEIR_OK);
    weir_pool pool;
    assert_int_equal(weir_pool_open(&pool, &settings, NULL), WEIR_OK);
    weir_connection *one, *two;
    bool again;
    weir_error error = {0};
    const int64_t late_us = weir_monotonic_us() + 20 * WEIR_SECOND;
    assert_int_equal(weir_pool_acquire(&pool, late_us, &one, &again, &error), WEIR_OK);
    int64_t took_us = WEIR_SECOND;
    for (int i = 0; i < 20 && took_us > 25000; i++) { // a busy machine may make any one late
        const test_watch watch = test_watch_start();
        const int64_t deadline_us = weir_monotonic_us() + 20000;
        assert_int_equal(weir_pool_acquire(&pool, deadline_us, &two, &again, &error),
                         WEIR_NOT_EXECUTED);
        took_us = test_watch_us(&watch);
    }
    assert_in_range(took_us, 15000, 25000);
    assert_non_null(strstr(error.message, "all 1 connections"));
    weir_pool_release(&pool, one, true);
    assert_int_equal(weir_pool_acquire(&pool, late_us, &two, &again, &error), WEIR_OK);
    assert_ptr_equal(one, two);
    assert_true(two->fd >= 0);
    weir_pool_release(&pool, two, true);
    weir_pool_close(&pool);
}

// A child and its parent take turns; neither reads the other's replies, and the parent's connection
// outlives the child.
static void a_forked_child_connects_anew(void **state)
{
    (void)state;
    test_proxy proxy;
    test_proxy_start(&proxy, &server);
    test_ask(&server, "FLUSHALL");
    weir_store *store = test_redis(proxy.url, "?deadline=20s");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1000, .window_us = WEIR_DAY);
    assert_int_equal(test_take(store, &limit, "parent", 1, NOW).remaining, 999);
    assert_int_equal(test_proxy_connections(&proxy), 1);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool good = true;
        for (int i = 0; i < 100; i++) {
            weir_decision d = {0};
            const weir_check check = check_of(&limit, "child", 1);
            good &= weir_store_take(store, &check, NOW, &d, NULL) == WEIR_OK;
            good &= d.remaining == 999 - i;
        }
        weir_store_close(store);
        _exit(good ? 0 : 1);
    }
    for (int i = 1; i < 100; i++) {
        assert_int_equal(test_take(store, &limit, "parent", 1, NOW).remaining, 999 - i);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(test_take(store, &limit, "parent", 1, NOW).remaining, 899);
    assert_int_equal(test_proxy_connections(&proxy), 2);
    const pid_t idle = fork(); // a child that only closes
    if (idle == 0) {
        weir_store_close(store);
        _exit(0);
    }
    assert_int_equal(waitpid(idle, &ended, 0), idle);
    assert_int_equal(ended, 0);
    assert_int_equal(test_take(store, &limit, "parent", 1, NOW).remaining, 898);
    assert_int_equal(test_proxy_connections(&proxy), 2);
    weir_store_close(store);
    test_proxy_stop(&proxy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c073_threads_share_a_store),
        cmocka_unit_test(c051_threads_count_once_while_scripts_are_flushed),
        cmocka_unit_test(a_call_beyond_the_connections_waits_until_its_deadline),
        cmocka_unit_test(a_forked_child_connects_anew),
    };
    return cmocka_run_group_tests_name("redis pool", tests, start, stop);
}
