// The most admitted in a window, keys refused, and the keys refused most.

#include "support.h"

#include <stdio.h>

#include "replay/tally.h"

static void count(tally *t, size_t limit, const char *key, int64_t time_us, bool passed)
{
    assert_true(tally_count(t, limit, key, strlen(key), time_us, passed, passed));
}

static void the_window_is_half_open(void **state)
{
    (void)state;
    tally t;
    weir_limit limit = LIMIT(WEIR_SLIDING_LOG, .limit = 9, .window_us = 10);
    assert_true(tally_open(&t));
    size_t at = tally_limit_index(&t, &limit, false);
    count(&t, at, "a", 100, true);
    count(&t, at, "a", 105, true);
    count(&t, at, "a", 110, true); // the first is exactly a window old
    count(&t, at, "b", 110, true);
    assert_true(tally_settle(&t));
    assert_int_equal(t.limits[at].peak, 2);
    count(&t, at, "a", 114, true);
    assert_true(tally_settle(&t));
    assert_int_equal(t.limits[at].peak, 3);
    assert_int_equal(t.limits[at].keys, 2);
    tally_close(&t);
}

static void a_late_request_counts_at_the_newest_and_a_stepped_clock_starts_over(void **state)
{
    (void)state;
    tally t;
    weir_limit limit = LIMIT(WEIR_SLIDING_LOG, .limit = 9, .window_us = 10);
    assert_true(tally_open(&t));
    size_t at = tally_limit_index(&t, &limit, false);
    count(&t, at, "a", 100, true);
    count(&t, at, "a", 95, true);
    assert_true(tally_settle(&t));
    assert_int_equal(t.limits[at].peak, 2);
    count(&t, at, "a", 50, true);
    count(&t, at, "a", 51, true);
    assert_true(tally_settle(&t));
    assert_int_equal(t.limits[at].peak, 2);
    tally_close(&t);
}

static void keys_refused_most_come_first(void **state)
{
    (void)state;
    tally t;
    tally_top top[3];
    weir_limit limit = LIMIT(WEIR_SLIDING_LOG, .limit = 9, .window_us = 10);
    assert_true(tally_open(&t));
    size_t at = tally_limit_index(&t, &limit, false);
    for (int key = 0; key < 50; key++) {
        char name[16];
        snprintf(name, sizeof name, "key-%02d", key);
        count(&t, at, name, 100 + key, true);
        for (int i = 0; i < key % 10; i++) {
            count(&t, at, name, 200 - key, false);
        }
    }
    assert_true(tally_settle(&t));
    assert_int_equal(tally_most_refused(&t, top, 3), 3);
    assert_int_equal(t.limits[at].keys_refused, 45);
    // Of five keys refused nine times, those refused first.
    assert_memory_equal(top[0].key, "key-49", 6);
    assert_memory_equal(top[1].key, "key-39", 6);
    assert_memory_equal(top[2].key, "key-29", 6);
    assert_int_equal(top[0].refused, 9);
    assert_int_equal(top[0].first_us, 151);
    assert_int_equal(top[0].peak, 1);
    tally_close(&t);
}

// Against the plain way: for each admission, count those of its window.
static void the_peak_is_what_counting_by_hand_gives(void **state)
{
    (void)state;
    enum { EVENTS = 3000, KEYS = 40, WINDOW = 500 };
    static struct {
        int key;
        int64_t time_us;
        bool passed;
    } events[EVENTS];
    uint64_t random = 7;
    int64_t now_us = 1000;
    tally t;
    weir_limit limit = LIMIT(WEIR_SLIDING_LOG, .limit = 9, .window_us = WINDOW);
    assert_true(tally_open(&t));
    size_t at = tally_limit_index(&t, &limit, false);
    uint32_t peak = 0;
    for (int i = 0; i < EVENTS; i++) {
        now_us += test_between(&random, 0, 20);
        events[i].key = (int)test_between(&random, 0, KEYS - 1);
        events[i].time_us = now_us;
        events[i].passed = test_between(&random, 0, 3) > 0;
        char name[16];
        snprintf(name, sizeof name, "%d", events[i].key);
        count(&t, at, name, now_us, events[i].passed);
        uint32_t inside = 0;
        for (int j = i; j >= 0 && events[j].time_us > now_us - WINDOW; j--) {
            inside += events[j].key == events[i].key && events[j].passed;
        }
        peak = events[i].passed && inside > peak ? inside : peak;
    }
    assert_true(tally_settle(&t));
    assert_int_equal(t.limits[at].peak, peak);
    tally_close(&t);
}

static void many_keys_and_batches(void **state)
{
    (void)state;
    enum { KEYS = 50000 };
    tally t;
    weir_limit limit = LIMIT(WEIR_SLIDING_LOG, .limit = 9, .window_us = 10);
    assert_true(tally_open(&t));
    size_t at = tally_limit_index(&t, &limit, false);
    for (int round = 0; round < 4; round++) {
        for (int key = 0; key < KEYS; key++) {
            char name[16];
            snprintf(name, sizeof name, "%d", key);
            count(&t, at, name, 100 + round, round != 3);
        }
    }
    assert_true(tally_settle(&t));
    assert_int_equal(t.limits[at].asked, 4 * KEYS);
    assert_int_equal(t.limits[at].keys, KEYS);
    assert_int_equal(t.limits[at].keys_refused, KEYS);
    assert_int_equal(t.limits[at].peak, 3);
    tally_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_window_is_half_open),
        cmocka_unit_test(a_late_request_counts_at_the_newest_and_a_stepped_clock_starts_over),
        cmocka_unit_test(keys_refused_most_come_first),
        cmocka_unit_test(the_peak_is_what_counting_by_hand_gives),
        cmocka_unit_test(many_keys_and_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
