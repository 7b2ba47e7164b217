// Many threads on one store: what one lock must guard shows as a wrong count here, and as a race
// under ThreadSanitizer.

#include "support.h"

#include <pthread.h>
#include <stdio.h>

#ifdef WEIR_TEST_THREAD_SANITIZER
#define TAKES 50000
#else
#define TAKES 1000000
#endif
#define PASS 1000

typedef struct caller {
    weir_store *store;
    const weir_limit *limits;
    size_t count;
    int number;
    int64_t allowed;
    pthread_barrier_t *start;
} caller;

static void *take_one_key(void *argument)
{
    caller *c = argument;
    char id[32];
    weir_decision d;
    pthread_barrier_wait(c->start);
    for (int i = 0; i < TAKES; i++) {
        weir_check check = check_of(c->limits, "key", 1);
        check.id = id;
        check.id_size = (size_t)snprintf(id, sizeof id, "%d %d", c->number, i);
        if (weir_store_take(c->store, &check, NOW, &d, NULL) != WEIR_OK) {
            return NULL;
        }
        c->allowed += d.allowed;
    }
    return c;
}

static int64_t run_two(void *(*run)(void *), caller *both)
{
    pthread_t threads[2];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 2);
    int64_t allowed = 0;
    for (int i = 0; i < 2; i++) {
        both[i].number = i;
        both[i].start = &start;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &both[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *done = NULL;
        pthread_join(threads[i], &done);
        assert_non_null(done);
        allowed += both[i].allowed;
    }
    pthread_barrier_destroy(&start);
    return allowed;
}

static void exactly_the_limit_passes_for_every_algorithm(void **state)
{
    (void)state;
    const struct {
        weir_limit_options options;
        int64_t passes;
    } cases[] = {
        {{.algorithm = WEIR_TOKEN_BUCKET, .rate = PASS, .period_us = WEIR_DAY}, PASS},
        {{.algorithm = WEIR_LEAKY_BUCKET, .rate = PASS, .period_us = WEIR_DAY, .queue = PASS - 1},
         PASS},
        {{.algorithm = WEIR_FIXED_WINDOW, .limit = PASS, .window_us = WEIR_DAY}, PASS},
        {{.algorithm = WEIR_SLIDING_LOG, .limit = PASS, .window_us = WEIR_DAY}, PASS},
        {{.algorithm = WEIR_SLIDING_LOG,
          .limit = PASS,
          .window_us = WEIR_DAY,
          .count_denied = true},
         PASS},
        {{.algorithm = WEIR_SLIDING_COUNTER, .limit = PASS, .window_us = WEIR_DAY}, PASS},
        {{.algorithm = WEIR_SLIDING_COUNTER, .limit = PASS, .window_us = WEIR_DAY, .slots = 24},
         PASS},
        {{.algorithm = WEIR_MIN_GAP, .gap_us = WEIR_DAY}, 1},
        {{.algorithm = WEIR_CONCURRENCY, .limit = PASS, .ttl_us = WEIR_DAY}, PASS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_limit_options options = cases[i].options;
        options.name = "race";
        const weir_limit limit = test_limit(&options);
        weir_store *store = test_store(NULL);
        caller both[2] = {{store, &limit, 1, 0, 0, NULL}, {store, &limit, 1, 0, 0, NULL}};
        assert_int_equal(run_two(take_one_key, both), cases[i].passes);
        weir_store_close(store);
    }
}

// Two lists that name the same keys in opposite order: no call may wait for the other for ever.
static void *take_both_ways(void *argument)
{
    caller *c = argument;
    weir_decision d;
    pthread_barrier_wait(c->start);
    for (int i = 0; i < TAKES / 10; i++) {
        weir_check checks[2] = {check_of(&c->limits[0], "one", 1),
                                check_of(&c->limits[1], "two", 1)};
        if (c->number == 1) {
            const weir_check kept = checks[0];
            checks[0] = checks[1];
            checks[1] = kept;
        }
        if (weir_store_take_all(c->store, checks, 2, NOW, &d, NULL, NULL) != WEIR_OK) {
            return NULL;
        }
        c->allowed += d.allowed;
    }
    return c;
}

static void a_list_records_all_or_none_whatever_its_order(void **state)
{
    (void)state;
    weir_limit limits[2] = {
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = PASS, .window_us = WEIR_DAY),
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 2 * PASS, .window_us = WEIR_DAY),
    };
    weir_store *store = test_store(NULL);
    caller both[2] = {{store, limits, 2, 0, 0, NULL}, {store, limits, 2, 0, 0, NULL}};
    assert_int_equal(run_two(take_both_ways, both), PASS);
    assert_int_equal(test_peek(store, &limits[0], "one", 1, NOW).remaining, 0);
    assert_int_equal(test_peek(store, &limits[1], "two", 1, NOW).remaining, PASS);
    weir_store_close(store);
}

// A small store under a flood of fresh keys with logs: evictions, sweeps for side memory and takes
// all at once.
static void *flood(void *argument)
{
    caller *c = argument;
    weir_decision d;
    char key[32];
    uint64_t random = (uint64_t)c->number;
    pthread_barrier_wait(c->start);
    for (int i = 0; i < TAKES / 4; i++) {
        snprintf(key, sizeof key, "%d", (int)test_between(&random, 0, 20000));
        const size_t which = (size_t)test_between(&random, 0, (int64_t)c->count - 1);
        const weir_check check = check_of(&c->limits[which], key, 1);
        const weir_status status = weir_store_take(c->store, &check, NOW + i, &d, NULL);
        if (status != WEIR_OK && status != WEIR_FULL) {
            return NULL;
        }
    }
    return c;
}

static void a_flood_of_fresh_keys_is_survived(void **state)
{
    (void)state;
    weir_limit limits[4] = {
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 50, .window_us = 1000),
        LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 50, .ttl_us = 1000),
        LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .limit = 50, .window_us = 1000, .slots = 10),
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 50, .period_us = 1000),
    };
    weir_store *store = test_store(&(weir_memory_options){.size_bytes = 256 << 10});
    caller both[2] = {{store, limits, 4, 0, 0, NULL}, {store, limits, 4, 0, 0, NULL}};
    run_two(flood, both);
    weir_counters counters;
    assert_int_equal(weir_memory_counters(store, &counters), WEIR_OK);
    assert_true(counters.keys <= (256 << 10) / 32);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_limit_passes_for_every_algorithm),
        cmocka_unit_test(a_list_records_all_or_none_whatever_its_order),
        cmocka_unit_test(a_flood_of_fresh_keys_is_survived),
    };
    return cmocka_run_group_tests_name("race", tests, NULL, NULL);
}
