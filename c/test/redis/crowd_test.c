// Eight processes on one hot key and a thousand others: whatever they do, no key gets more than its
// limit promises for the time that the server measured, also while somebody empties the server's
// script cache in a loop.

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum { PROCESSES = 8, OTHERS = 1000, HOT = OTHERS };

// Counted by all processes at once.
typedef struct tally {
    int64_t allowed[OTHERS + 1];
    int64_t asked[OTHERS + 1];
    int64_t errors;
    char first_error[512];
} tally;

static test_server server;

// WEIR_CROWD_MS, for soaks: how long all cases take together.
static int64_t milliseconds(void)
{
    const char *text = getenv("WEIR_CROWD_MS");
    return text != NULL ? atoll(text) : 3000;
}

static int64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * WEIR_SECOND + now.tv_nsec / 1000;
}

static int64_t server_now_us(void)
{
    return test_ask_number(&server,
                           "EVAL return(redis.call('TIME')[1]*1000000+redis.call('TIME')[2]) 0");
}

static void take_until(int64_t end_us, const weir_limit *limit, int number, tally *t)
{
    weir_store *store = test_redis(server.url, "?deadline=30s");
    uint64_t random = (uint64_t)number;
    for (int64_t i = 0; monotonic_us() < end_us; i++) {
        const int which = i % 4 == 0 ? (int)test_between(&random, 0, OTHERS - 1) : HOT;
        char key[32], id[48];
        snprintf(key, sizeof key, "client %d", which);
        weir_check check = check_of(limit, key, 1);
        check.id = id;
        check.id_size = (size_t)snprintf(id, sizeof id, "%d %lld", number, (long long)i);
        weir_decision d;
        weir_error error;
        __atomic_fetch_add(&t->asked[which], 1, __ATOMIC_RELAXED);
        if (weir_store_take(store, &check, 0, &d, &error) == WEIR_OK) {
            __atomic_fetch_add(&t->allowed[which], d.allowed, __ATOMIC_RELAXED);
        } else if (__atomic_fetch_add(&t->errors, 1, __ATOMIC_RELAXED) == 0) {
            snprintf(t->first_error, sizeof t->first_error, "%s", error.message);
        }
    }
    weir_store_close(store);
}

static pid_t flush_in_a_loop(void)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    while (pid == 0) {
        test_ask(&server, "SCRIPT FLUSH");
    }
    return pid;
}

// Runs the crowd and returns the server's time before its first take and after its last.
static void run_crowd(const weir_limit *limit, int64_t for_us, tally *t, int64_t span_us[2])
{
    const pid_t flusher = flush_in_a_loop();
    pid_t workers[PROCESSES];
    span_us[0] = server_now_us();
    const int64_t end_us = monotonic_us() + for_us;
    for (int i = 0; i < PROCESSES; i++) {
        workers[i] = fork();
        assert_true(workers[i] >= 0);
        if (workers[i] == 0) {
            take_until(end_us, limit, i, t);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(workers[i], &status, 0), workers[i]);
        assert_int_equal(status, 0);
    }
    span_us[1] = server_now_us();
    kill(flusher, SIGKILL);
    waitpid(flusher, NULL, 0);
}

// The most that SEMANTICS lets pass between two instants.
static int64_t bound_of(const weir_limit *limit, const int64_t span_us[2])
{
    const int64_t passed_us = span_us[1] - span_us[0];
    switch (limit->algorithm) {
    case WEIR_TOKEN_BUCKET:
    case WEIR_LEAKY_BUCKET:
        return limit->most + passed_us * limit->rate / limit->period;
    case WEIR_FIXED_WINDOW:
        return limit->most * (span_us[1] / limit->span_us - span_us[0] / limit->span_us + 1);
    default:
        return limit->most * (passed_us / limit->span_us + 1);
    }
}

static tally *new_tally(void)
{
    tally *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(t, MAP_FAILED);
    return t;
}

static void no_key_gets_more_than_its_limit_promises(void **state)
{
    (void)state;
    const weir_limit_options all[] = {
        {.algorithm = WEIR_TOKEN_BUCKET, .rate = 70, .period_us = WEIR_SECOND, .burst = 7},
        {.algorithm = WEIR_LEAKY_BUCKET, .rate = 70, .period_us = WEIR_SECOND, .queue = 6},
        {.algorithm = WEIR_FIXED_WINDOW, .limit = 7, .window_us = 100000},
        {.algorithm = WEIR_SLIDING_LOG, .limit = 7, .window_us = 100000},
        {.algorithm = WEIR_SLIDING_COUNTER,
         .limit = 7,
         .window_us = 100000,
         .slots = 4,
         .strict = true},
        {.algorithm = WEIR_MIN_GAP, .gap_us = 10000},
        {.algorithm = WEIR_CONCURRENCY, .limit = 7, .ttl_us = 100000},
    };
    const int64_t cases = sizeof all / sizeof all[0];
    for (int64_t i = 0; i < cases; i++) {
        weir_limit_options options = all[i];
        options.name = "crowd";
        const weir_limit limit = test_limit(&options);
        tally *t = new_tally();
        int64_t span_us[2];
        run_crowd(&limit, milliseconds() * 1000 / (cases + 1), t, span_us);
        if (t->errors > 0) {
            fail_msg("%lld errors, the first: %s", (long long)t->errors, t->first_error);
        }
        const int64_t bound = bound_of(&limit, span_us);
        assert_true(t->allowed[HOT] > 0);
        for (int k = 0; k <= OTHERS; k++) {
            if (t->allowed[k] > bound) {
                fail_msg("%s let %lld pass where %lld is the most",
                         weir_algorithm_name(limit.algorithm), (long long)t->allowed[k],
                         (long long)bound);
            }
        }
        munmap(t, sizeof *t);
    }
}

// A call that found no script is made again with its body: once, or the count would tell.
static void nothing_is_counted_twice(void **state)
{
    (void)state;
    const weir_limit counter =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = WEIR_COUNT_MAX, .window_us = 365 * WEIR_DAY);
    tally *t = new_tally();
    int64_t span_us[2];
    run_crowd(&counter, milliseconds() * 1000 / 8, t, span_us);
    assert_int_equal(t->errors, 0);
    weir_store *store = test_redis(server.url, "?deadline=30s");
    for (int k = 0; k <= OTHERS; k++) {
        char key[32];
        snprintf(key, sizeof key, "client %d", k);
        assert_int_equal(test_peek(store, &counter, key, 0, 0).remaining,
                         WEIR_COUNT_MAX - t->asked[k]);
        assert_int_equal(t->allowed[k], t->asked[k]);
    }
    weir_store_close(store);
    munmap(t, sizeof *t);
}

static int start(void **state)
{
    (void)state;
    SERVER(&server, "--port", "0");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_gets_more_than_its_limit_promises),
        cmocka_unit_test(nothing_is_counted_twice),
    };
    return cmocka_run_group_tests_name("redis crowd", tests, start, stop);
}
