// Threads on one shared store, by handles of their own and by one handle: nothing is counted twice,
// nothing is lost, and the table stays sound.
//
// Two handles are two mappings, and to ThreadSanitizer different memory: it can't see that what one
// frees the other allots only later. So under it all threads have one handle.

#define _GNU_SOURCE
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifdef WEIR_TEST_THREAD_SANITIZER
#define ROUNDS  10000
#define HANDLES 1
#else
#define ROUNDS  100000
#define HANDLES 2
#endif
#define THREADS 4
#define MANY    10000000
#define PASS    1000
#define PLACES  2

enum { BUCKET, WINDOW, LOG, COUNTER, COUNTED };

typedef struct scene {
    weir_store *stores[HANDLES];
    weir_limit counted[COUNTED]; // of which no take is refused
    weir_limit few, log_of_few;  // which are taken together
    weir_limit alone;            // which is taken by itself
    weir_limit places;
    int held; // of those places, as the threads know
    pthread_barrier_t start;
} scene;

typedef struct caller {
    scene *s;
    weir_store *store;
    int number;
    uint64_t random;
    int64_t used[COUNTED]; // taken and not given back
    int64_t allowed, refused;
    int64_t lists, alone; // that passed
    const char *wrong;    // what was not as it must be; NULL: nothing
} caller;

static void expect(caller *c, bool fine, const char *what)
{
    if (!fine && c->wrong == NULL) {
        c->wrong = what;
    }
}

static void take_or_refund(caller *c, int64_t now_us)
{
    const size_t which = test_random(&c->random) % COUNTED;
    const int64_t cost = test_between(&c->random, 1, 3);
    const weir_check check = check_of(&c->s->counted[which], "counted", cost);
    weir_decision d;
    if (c->used[which] >= cost && test_random(&c->random) % 3 == 0) {
        expect(c, weir_store_refund(c->store, &check, now_us, &d, NULL) == WEIR_OK, "a refund");
        c->used[which] -= cost;
        return;
    }
    const weir_status status = weir_store_take(c->store, &check, now_us, &d, NULL);
    expect(c, status == WEIR_OK && d.allowed, "a take");
    c->used[which] += cost;
    c->allowed++;
}

static void take_list(caller *c, int64_t now_us)
{
    weir_check checks[2] = {check_of(&c->s->few, "few", 1), check_of(&c->s->log_of_few, "log", 1)};
    if (test_random(&c->random) % 2 ==
        0) { // whatever the order, no call waits for another for ever
        const weir_check first = checks[0];
        checks[0] = checks[1];
        checks[1] = first;
    }
    weir_decision d, rows[2];
    expect(c, weir_store_take_all(c->store, checks, 2, now_us, &d, rows, NULL) == WEIR_OK,
           "a list");
    c->lists += d.allowed;
    c->allowed += d.allowed ? 2 : 0;
    c->refused += !rows[0].allowed + !rows[1].allowed;
}

static void take_alone(caller *c, int64_t now_us)
{
    const weir_check check = check_of(&c->s->alone, "alone", 1);
    weir_decision d;
    expect(c, weir_store_take(c->store, &check, now_us, &d, NULL) == WEIR_OK, "a take alone");
    c->alone += d.allowed;
    c->allowed += d.allowed;
    c->refused += !d.allowed;
}

static void hold_a_place(caller *c, int64_t now_us)
{
    char id[16];
    weir_decision d;
    weir_check check = check_of(&c->s->places, "places", 0);
    check.id = id;
    check.id_size = (size_t)snprintf(id, sizeof id, "%d", c->number);
    expect(c, weir_store_acquire(c->store, &check, now_us, &d, NULL) == WEIR_OK, "an acquire");
    c->allowed += d.allowed;
    c->refused += !d.allowed;
    if (!d.allowed) {
        return;
    }
    const int held = __atomic_add_fetch(&c->s->held, 1, __ATOMIC_RELAXED);
    expect(c, held <= PLACES, "the number of places");
    expect(c, weir_store_renew(c->store, &check, now_us, &d, NULL) == WEIR_OK && d.allowed,
           "a renewal");
    __atomic_sub_fetch(&c->s->held, 1, __ATOMIC_RELAXED);
    expect(c, weir_store_release(c->store, &check, now_us, &d, NULL) == WEIR_OK && d.allowed,
           "a release");
}

static void take_and_reset(caller *c, int64_t now_us)
{
    const weir_check check = check_of(&c->s->counted[LOG], "reset", 1);
    weir_decision d;
    expect(c, weir_store_take(c->store, &check, now_us, &d, NULL) == WEIR_OK,
           "a take before reset");
    c->allowed += d.allowed;
    expect(c, weir_store_reset(c->store, &check, NULL) == WEIR_OK, "a reset");
}

static void peek(caller *c, int64_t now_us)
{
    const weir_limit *limit = &c->s->counted[test_random(&c->random) % COUNTED];
    const weir_check check = check_of(limit, "counted", 1);
    weir_decision d;
    expect(c, weir_store_peek(c->store, &check, now_us, &d, NULL) == WEIR_OK, "a peek");
    expect(c, d.remaining > 0 && d.remaining <= d.limit, "what a peek saw");
}

static void *call_all_verbs(void *argument)
{
    static void (*const verbs[])(caller *, int64_t) = {take_or_refund, take_list,      take_alone,
                                                       hold_a_place,   take_and_reset, peek};
    caller *c = argument;
    pthread_barrier_wait(&c->s->start);
    for (int i = 0; i < ROUNDS; i++) {
        verbs[test_random(&c->random) % (sizeof verbs / sizeof verbs[0])](c, NOW + i);
    }
    return NULL;
}

// A small store: evictions, searches for side memory, and checks of the whole, all at once.
static void *flood(void *argument)
{
    caller *c = argument;
    pthread_barrier_wait(&c->s->start);
    for (int i = 0; i < ROUNDS; i++) {
        char key[16];
        weir_decision d;
        weir_shared_report report;
        snprintf(key, sizeof key, "%d", (int)test_between(&c->random, 0, 20000));
        const weir_check checks[2] = {
            check_of(&c->s->counted[test_random(&c->random) % COUNTED], key, 1),
            check_of(&c->s->places, key, 1)};
        const weir_status status =
            test_random(&c->random) % 4 == 0
                ? weir_store_take_all(c->store, checks, 2, NOW + i, &d, NULL, NULL)
                : weir_store_take(c->store, &checks[0], NOW + i, &d, NULL);
        expect(c, status == WEIR_OK || status == WEIR_FULL, "a take in the flood");
        if (i % (ROUNDS / 5) == 0) {
            expect(c, weir_shared_check(c->store, &report, NULL) == WEIR_OK, "a check meanwhile");
        }
    }
    return NULL;
}

static void open_scene(scene *s, size_t size, size_t side)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/weir-race-%d", (int)getpid());
    *s = (scene){
        .counted =
            {
                [BUCKET] = LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = MANY,
                                 .period_us = 365 * WEIR_DAY),
                [WINDOW] =
                    LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = MANY, .window_us = WEIR_DAY),
                [LOG] = LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = MANY, .window_us = WEIR_DAY),
                [COUNTER] = LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .limit = MANY,
                                  .window_us = WEIR_DAY, .slots = 24),
            },
        .few = LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = PASS, .window_us = WEIR_DAY),
        .log_of_few =
            LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 2 * PASS, .window_us = WEIR_DAY),
        .alone = LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .limit = PASS, .window_us = WEIR_DAY),
        .places = LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = PLACES, .ttl_us = WEIR_DAY),
    };
    for (int i = 0; i < HANDLES; i++) {
        weir_error error = {0};
        const weir_shared_options options = {.path = path, .size_bytes = size, .side_bytes = side};
        if (weir_shared_open(&s->stores[i], &options, &error) != WEIR_OK) {
            fail_msg("%s", error.message);
        }
    }
    assert_int_equal(weir_shared_remove(NULL, path, NULL), WEIR_OK);
    pthread_barrier_init(&s->start, NULL, THREADS);
}

static void close_scene(scene *s)
{
    weir_shared_report report;
    weir_error error = {0};
    if (weir_shared_check(s->stores[0], &report, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    assert_true(report.settled);
    assert_int_equal(report.deaths, 0);
    pthread_barrier_destroy(&s->start);
    for (int i = 0; i < HANDLES; i++) {
        weir_store_close(s->stores[i]);
    }
}

// Runs the threads, and gives what all of them together did.
static caller run_all(scene *s, void *(*run)(void *))
{
    pthread_t threads[THREADS];
    caller callers[THREADS], sum = {0};
    for (int i = 0; i < THREADS; i++) {
        callers[i] =
            (caller){.s = s, .store = s->stores[i % HANDLES], .number = i, .random = (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (int k = 0; k < COUNTED; k++) {
            sum.used[k] += callers[i].used[k];
        }
        sum.allowed += callers[i].allowed;
        sum.refused += callers[i].refused;
        sum.lists += callers[i].lists;
        sum.alone += callers[i].alone;
        sum.wrong = sum.wrong != NULL ? sum.wrong : callers[i].wrong;
    }
    if (sum.wrong != NULL) {
        fail_msg("%s was wrong", sum.wrong);
    }
    return sum;
}

static void what_all_verbs_count_is_there_afterwards(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, (size_t)16 << 20, (size_t)4 << 20);
    const caller sum = run_all(&s, call_all_verbs);
    assert_int_equal(sum.lists, PASS);
    assert_int_equal(sum.alone, PASS);
    for (int i = 0; i < HANDLES; i++) {
        weir_store *store = s.stores[i];
        for (int k = 0; k < COUNTED; k++) {
            const weir_decision d = test_peek(store, &s.counted[k], "counted", 0, NOW + ROUNDS);
            assert_int_equal(d.limit - d.remaining, sum.used[k]);
        }
        assert_int_equal(test_peek(store, &s.few, "few", 0, NOW).remaining, 0);
        assert_int_equal(test_peek(store, &s.log_of_few, "log", 0, NOW).remaining, PASS);
        assert_int_equal(test_peek(store, &s.places, "places", 0, NOW).remaining, PLACES);
        weir_counters counters;
        assert_int_equal(weir_memory_counters(store, &counters), WEIR_OK);
        assert_int_equal(counters.allowed, sum.allowed);
        assert_int_equal(counters.refused, sum.refused);
        assert_int_equal(counters.evicted, 0);
    }
    close_scene(&s);
}

static void a_flood_of_fresh_keys_leaves_a_sound_table(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, (size_t)4 << 20, (size_t)1 << 20); // with two journals, for two calls at once
    run_all(&s, flood);
    weir_counters counters;
    assert_int_equal(weir_memory_counters(s.stores[0], &counters), WEIR_OK);
    assert_true(counters.evicted > 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_all_verbs_count_is_there_afterwards),
        cmocka_unit_test(a_flood_of_fresh_keys_leaves_a_sound_table),
    };
    return cmocka_run_group_tests_name("race_shared", tests, NULL, NULL);
}
