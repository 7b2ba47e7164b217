// The memory store: its budget, who is forgotten, what it refuses.

#include "support.h"

#include <stdio.h>

static void fill(weir_store *store, const weir_limit *limit, const char *prefix, int keys,
                 int64_t cost, int64_t now_us)
{
    char key[64];
    for (int i = 0; i < keys; i++) {
        snprintf(key, sizeof key, "%s %d", prefix, i);
        test_take(store, limit, key, cost, now_us);
    }
}

static void a_flood_of_fresh_keys_does_not_push_out_an_exhausted_one(void **state)
{
    (void)state;
    const weir_limit_options all[] = {
        {.name = "a", .algorithm = WEIR_TOKEN_BUCKET, .rate = 10, .period_us = WEIR_HOUR},
        {.name = "b", .algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_DAY},
        {.name = "c", .algorithm = WEIR_SLIDING_LOG, .limit = 10, .window_us = WEIR_HOUR},
        {.name = "d", .algorithm = WEIR_SLIDING_COUNTER, .limit = 10, .window_us = WEIR_HOUR},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const weir_limit limit = test_limit(&all[i]);
        weir_store *store = test_store(&(weir_memory_options){.size_bytes = 128 << 10});
        fill(store, &limit, "exhausted", 100, 10, NOW);
        fill(store, &limit, "fresh", 50000, 1, NOW + 1);
        for (int k = 0; k < 100; k++) {
            char key[64];
            snprintf(key, sizeof key, "exhausted %d", k);
            assert_int_equal(test_peek(store, &limit, key, 1, NOW + 2).allowed, false);
        }
        weir_counters counters;
        weir_memory_counters(store, &counters);
        assert_true(counters.evicted > 0);
        weir_store_close(store);
    }
}

static void what_has_expired_goes_before_anything_live(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .limit = 10, .window_us = WEIR_MINUTE);
    weir_store *store =
        test_store(&(weir_memory_options){.size_bytes = 128 << 10, .no_side = true});
    weir_counters before, after;
    fill(store, &limit, "old", 20000, 10, NOW);
    weir_memory_counters(store, &before);
    fill(store, &limit, "new", 2000, 1, NOW + 3 * WEIR_MINUTE);
    weir_memory_counters(store, &after);
    assert_int_equal(before.evicted, after.evicted);
    weir_store_close(store);
}

static void a_table_two_thirds_full_has_lost_nothing(void **state)
{
    (void)state;
    const weir_limit limit = LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = WEIR_DAY);
    weir_store *store =
        test_store(&(weir_memory_options){.size_bytes = 48 * 20000, .no_side = true});
    fill(store, &limit, "key", 20000, 1, NOW);
    weir_counters counters;
    weir_memory_counters(store, &counters);
    assert_int_equal(counters.evicted, 0);
    assert_int_equal(counters.keys, 20000);
    assert_int_equal(counters.allowed, 20000);
    assert_int_equal(counters.size_bytes, 48 * 20000);
    weir_store_close(store);
}

static void a_table_five_sixths_full_has_lost_almost_nothing(void **state)
{
    (void)state;
    const weir_limit limit = LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = WEIR_DAY);
    weir_store *store =
        test_store(&(weir_memory_options){.size_bytes = 20000 * 38, .no_side = true});
    fill(store, &limit, "key", 20000, 1, NOW);
    weir_counters counters;
    weir_memory_counters(store, &counters);
    assert_true(counters.evicted < 20);
    weir_store_close(store);
}

// Blocks of many small logs that have expired come together again for a large one.
static void side_memory_that_is_free_serves_any_size(void **state)
{
    (void)state;
    const weir_limit small =
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 3, .window_us = WEIR_SECOND);
    const weir_limit large =
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 1000, .window_us = WEIR_SECOND);
    weir_store *store = test_store(&(weir_memory_options){.size_bytes = 128 << 10});
    for (int round = 0; round < 5; round++) {
        const int64_t now_us = NOW + round * WEIR_MINUTE;
        fill(store, &small, "small", 400, 1, now_us);
        for (int i = 0; i < 400; i++) {
            char key[64];
            snprintf(key, sizeof key, "small %d", i);
            const weir_check check = check_of(&small, key, 1);
            assert_int_equal(weir_store_reset(store, &check, NULL), WEIR_OK);
        }
        for (int i = 0; i < 1000; i++) {
            assert_true(test_take(store, &large, "large", 1, now_us + i).allowed);
        }
        const weir_check check = check_of(&large, "large", 1);
        assert_int_equal(weir_store_reset(store, &check, NULL), WEIR_OK);
    }
    weir_store_close(store);
}

static void a_log_that_does_not_fit_is_full_and_not_allowed(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 1000000, .window_us = WEIR_DAY);
    weir_store *store = test_store(&(weir_memory_options){.size_bytes = 64 << 10});
    const weir_check check = check_of(&limit, "key", 1);
    weir_decision d;
    weir_error error = {0};
    int64_t passed = 0;
    weir_status status;
    while ((status = weir_store_take(store, &check, NOW + passed, &d, &error)) == WEIR_OK) {
        passed++;
    }
    assert_int_equal(status, WEIR_FULL);
    assert_non_null(strstr(error.message, "side memory"));
    assert_int_equal(test_peek(store, &limit, "key", 0, NOW + passed).remaining, 1000000 - passed);
    weir_store_close(store);
}

static void a_list_that_does_not_fit_records_nothing(void **state)
{
    (void)state;
    const weir_limit window =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1000000, .window_us = WEIR_DAY);
    const weir_limit log =
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 1000000, .window_us = WEIR_DAY);
    weir_store *store = test_store(&(weir_memory_options){.size_bytes = 64 << 10});
    const weir_check checks[] = {check_of(&window, "key", 1), check_of(&log, "key", 1)};
    weir_decision d;
    int64_t passed = 0;
    while (weir_store_take_all(store, checks, 2, NOW + passed, &d, NULL, NULL) == WEIR_OK) {
        passed++;
    }
    assert_int_equal(test_peek(store, &window, "key", 0, NOW + passed).remaining, 1000000 - passed);
    assert_int_equal(test_peek(store, &log, "key", 0, NOW + passed).remaining, 1000000 - passed);
    weir_store_close(store);
}

static void a_cost_of_a_million_is_one_entry_of_a_log(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = INT64_C(1) << 40, .window_us = WEIR_DAY);
    weir_store *store = test_store(&(weir_memory_options){.size_bytes = 64 << 10});
    for (int i = 0; i < 500; i++) {
        assert_true(test_take(store, &limit, "key", 1000000, NOW + i).allowed);
    }
    weir_store_close(store);
}

static void the_same_limit_and_key_twice_is_a_mistake(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 5, .window_us = WEIR_DAY);
    weir_store *store = test_store(NULL);
    const weir_check checks[] = {check_of(&limit, "key", 1), check_of(&limit, "key", 1)};
    weir_decision d;
    weir_error error = {0};
    assert_int_equal(weir_store_take_all(store, checks, 2, NOW, &d, NULL, &error), WEIR_INVALID);
    assert_non_null(strstr(error.message, "twice"));
    assert_int_equal(test_peek(store, &limit, "key", 1, NOW).remaining, 5);
    weir_store_close(store);
}

static void what_a_check_must_have_is_said_by_name(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 5, .window_us = WEIR_DAY);
    const weir_limit leases = LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 5, .ttl_us = WEIR_DAY);
    const struct {
        weir_check check;
        int64_t now_us;
        const char *says;
    } cases[] = {
        {{NULL, "key", 3, .cost = 1}, NOW, "check had no limit"},
        {{&limit, "", 0, .cost = 1}, NOW, "key was empty for limit \"test\""},
        {{&limit, NULL, 3, .cost = 1}, NOW, "key was empty"},
        {{&limit, "key", 3, .cost = -5}, NOW, "cost was -5"},
        {{&limit, "key", 3, .cost = (INT64_C(1) << 43) + 1}, NOW, "cost was 8796093022209"},
        {{&limit, "key", 3, .cost = 1}, -1, "now was -1"},
        {{&limit, "key", 3, .cost = 1}, (INT64_C(1) << 52) + 1, "now was 4503599627370497"},
        {{&leases, "key", 3, .cost = 1}, NOW, "id was empty"},
    };
    weir_store *store = test_store(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_decision d;
        weir_error error = {0};
        assert_int_equal(weir_store_take(store, &cases[i].check, cases[i].now_us, &d, &error),
                         WEIR_INVALID);
        assert_int_equal(error.status, WEIR_INVALID);
        if (strstr(error.message, cases[i].says) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].says);
        }
    }
    weir_counters counters;
    weir_memory_counters(store, &counters);
    assert_int_equal(counters.keys, 0);
    weir_store_close(store);
}

static void a_verb_that_the_algorithm_lacks_is_refused(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 5, .window_us = WEIR_DAY);
    const weir_limit leases = LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 5, .ttl_us = WEIR_DAY);
    weir_store *store = test_store(NULL);
    const weir_check check = check_of(&limit, "key", 1), lease = check_of(&leases, "key", 1);
    weir_decision d;
    assert_int_equal(weir_store_acquire(store, &check, NOW, &d, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_renew(store, &check, NOW, &d, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_release(store, &check, NOW, &d, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_refund(store, &lease, NOW, &d, NULL), WEIR_INVALID);
    assert_int_equal(weir_store_charge(store, &lease, NOW, &d, NULL), WEIR_INVALID);
    weir_store_close(store);
}

static void each_check_of_take_many_stands_by_itself(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_DAY);
    weir_store *store = test_store(NULL);
    const weir_check checks[] = {check_of(&limit, "a", 1), check_of(&limit, "", 1),
                                 check_of(&limit, "a", 1), check_of(&limit, "b", 1)};
    weir_decision rows[4];
    weir_error error = {0};
    assert_int_equal(weir_store_take_many(store, checks, 4, NOW, rows, &error), WEIR_INVALID);
    assert_non_null(strstr(error.message, "key was empty"));
    assert_true(rows[0].allowed);
    assert_int_equal(rows[1].status, WEIR_INVALID);
    assert_false(rows[1].allowed);
    assert_false(rows[2].allowed);
    assert_true(rows[3].allowed);
    weir_store_close(store);
}

static void sizes_that_can_not_be_are_said_by_name(void **state)
{
    (void)state;
    const weir_memory_options cases[] = {
        {.size_bytes = 1000},
        {.size_bytes = 65536, .side_bytes = 40000},
        {.side_bytes = 100, .no_side = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_store *store;
        weir_error error = {0};
        assert_int_equal(weir_memory_open(&store, &cases[i], &error), WEIR_INVALID);
        assert_null(store);
        assert_non_null(strstr(error.message, "_bytes was"));
    }
}

static int64_t five_past(void *context)
{
    return *(int64_t *)context + 5;
}

static void a_clock_of_the_callers_is_read_when_now_is_nought(void **state)
{
    (void)state;
    int64_t base_us = NOW;
    const weir_clock clock = {five_past, &base_us};
    const weir_limit limit = LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = 100);
    weir_store *store = test_store(&(weir_memory_options){.clock = &clock});
    assert_true(test_take(store, &limit, "key", 1, 0).allowed);
    assert_int_equal(test_take(store, &limit, "key", 1, NOW + 6).retry_after_us, 99);
    assert_int_equal(weir_store_now_us(store), NOW + 5);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_of_fresh_keys_does_not_push_out_an_exhausted_one),
        cmocka_unit_test(what_has_expired_goes_before_anything_live),
        cmocka_unit_test(a_table_two_thirds_full_has_lost_nothing),
        cmocka_unit_test(a_table_five_sixths_full_has_lost_almost_nothing),
        cmocka_unit_test(side_memory_that_is_free_serves_any_size),
        cmocka_unit_test(a_log_that_does_not_fit_is_full_and_not_allowed),
        cmocka_unit_test(a_list_that_does_not_fit_records_nothing),
        cmocka_unit_test(a_cost_of_a_million_is_one_entry_of_a_log),
        cmocka_unit_test(the_same_limit_and_key_twice_is_a_mistake),
        cmocka_unit_test(what_a_check_must_have_is_said_by_name),
        cmocka_unit_test(a_verb_that_the_algorithm_lacks_is_refused),
        cmocka_unit_test(each_check_of_take_many_stands_by_itself),
        cmocka_unit_test(sizes_that_can_not_be_are_said_by_name),
        cmocka_unit_test(a_clock_of_the_callers_is_read_when_now_is_nought),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
