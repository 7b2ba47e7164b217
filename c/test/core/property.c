// What must hold for every limit, on random sequences: the wait is exact, peek and refusal touch
// nothing, a burst is a burst.

#include "random_limit.h"

#define SEQUENCES 300
#define EVENTS    60

// WEIR_SEED, for soaks: another run of random sequences.
static uint64_t seed(uint64_t number)
{
    const char *text = getenv("WEIR_SEED");
    return number + 1000 * (text != NULL ? strtoull(text, NULL, 10) : 0);
}

static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static void assert_same(const weir_decision *a, const weir_decision *b)
{
    assert_int_equal(a->allowed, b->allowed);
    assert_int_equal(a->limit, b->limit);
    assert_int_equal(a->remaining, b->remaining);
    assert_int_equal(a->retry_after_us, b->retry_after_us);
    assert_int_equal(a->reset_after_us, b->reset_after_us);
    assert_int_equal(a->delay_us, b->delay_us);
}

static void assert_sound(const weir_decision *d)
{
    assert_in_range(d->remaining, 0, d->limit);
    assert_true(d->reset_after_us >= 0);
    assert_true(d->delay_us >= 0);
    assert_true(d->retry_after_us >= WEIR_NEVER);
    if (d->allowed) {
        assert_int_equal(d->retry_after_us, 0);
    } else {
        assert_int_not_equal(d->retry_after_us, 0);
    }
}

// A refused take must pass at exactly now + retry_after, and not one microsecond before.
static void assert_wait_is_exact(weir_store *store, const weir_check *check, int64_t now_us,
                                 int64_t retry_after_us)
{
    weir_decision d;
    if (retry_after_us == WEIR_NEVER) {
        assert_true(check->cost > check->limit->most);
        return;
    }
    if (retry_after_us > 1) {
        assert_int_equal(weir_store_peek(store, check, now_us + retry_after_us - 1, &d, NULL),
                         WEIR_OK);
        assert_false(d.allowed);
    }
    assert_int_equal(weir_store_peek(store, check, now_us + retry_after_us, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
}

static void remaining_is_the_largest_cost_that_passes(weir_store *store, weir_check check,
                                                      int64_t now_us, int64_t remaining)
{
    weir_decision d;
    if (check.limit->algorithm == WEIR_CONCURRENCY || check.limit->algorithm == WEIR_MIN_GAP) {
        return;
    }
    check.cost = remaining;
    assert_int_equal(weir_store_peek(store, &check, now_us, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
    check.cost = remaining + 1;
    assert_int_equal(weir_store_peek(store, &check, now_us, &d, NULL), WEIR_OK);
    assert_false(d.allowed);
}

static void reset_after_leaves_the_key_untouched(weir_store *store, const weir_check *check,
                                                 int64_t now_us, int64_t reset_after_us)
{
    weir_decision d;
    assert_int_equal(weir_store_peek(store, check, now_us + reset_after_us, &d, NULL), WEIR_OK);
    assert_int_equal(d.remaining, d.limit);
    assert_int_equal(d.reset_after_us, 0);
    if (reset_after_us > 0) {
        assert_int_equal(weir_store_peek(store, check, now_us + reset_after_us - 1, &d, NULL),
                         WEIR_OK);
        assert_int_equal(d.reset_after_us, 1);
    }
}

static void one_sequence(weir_algorithm algorithm, uint64_t *random, weir_store *store)
{
    const weir_limit_options options = random_options(algorithm, random);
    const weir_limit limit = test_limit(&options);
    int64_t now_us = NOW + test_between(random, 0, WEIR_DAY);
    weir_check check = check_of(&limit, "key", 1);
    weir_store_reset(store, &check, NULL);
    for (int i = 0; i < EVENTS; i++) {
        now_us += random_step(&limit, random);
        check.cost = test_between(random, 0, 9) == 0 ? test_between(random, 0, limit.most + 1)
                                                     : test_between(random, 1, limit.most / 5 + 1);
        check.id = keys[test_random(random) % 8];
        check.id_size = 1;
        weir_decision before, peeked, taken, after;
        weir_store_peek(store, &check, now_us, &before, NULL);
        weir_store_peek(store, &check, now_us, &peeked, NULL);
        assert_same(&before, &peeked);
        assert_int_equal(weir_store_take(store, &check, now_us, &taken, NULL), WEIR_OK);
        assert_sound(&taken);
        assert_int_equal(taken.allowed, peeked.allowed);
        assert_int_equal(taken.delay_us, peeked.delay_us);
        weir_store_peek(store, &check, now_us, &after, NULL);
        if (!taken.allowed) {
            assert_wait_is_exact(store, &check, now_us, taken.retry_after_us);
            if (!limit.count_denied) {
                assert_same(&peeked, &taken);
                assert_same(&before, &after);
            }
        }
        if (limit.algorithm != WEIR_FIXED_WINDOW && limit.algorithm != WEIR_SLIDING_COUNTER) {
            assert_int_equal(after.remaining, taken.remaining);
        }
        remaining_is_the_largest_cost_that_passes(store, check, now_us, taken.remaining);
        reset_after_leaves_the_key_untouched(store, &check, now_us, taken.reset_after_us);
    }
}

static void every_wait_is_exact_and_a_refusal_changes_nothing(void **state)
{
    (void)state;
    uint64_t random = seed(1);
    weir_store *store = test_store(NULL);
    for (int i = 0; i < SEQUENCES; i++) {
        for (int algorithm = WEIR_TOKEN_BUCKET; algorithm <= WEIR_CONCURRENCY; algorithm++) {
            one_sequence((weir_algorithm)algorithm, &random, store);
        }
    }
    weir_store_close(store);
}

// The joint wait is a promise for the list as a whole; with several limits nothing else may be
// taken meanwhile.
static void a_joint_wait_is_exact_and_a_joint_refusal_records_nothing(void **state)
{
    (void)state;
    uint64_t random = seed(2);
    weir_store *store = test_store(NULL);
    for (int i = 0; i < SEQUENCES; i++) {
        weir_limit limits[4];
        weir_check checks[4];
        const size_t count = (size_t)test_between(&random, 2, 4);
        bool counts_denied = false;
        for (size_t k = 0; k < count; k++) {
            weir_limit_options options =
                random_options((weir_algorithm)test_between(&random, 1, 7), &random);
            options.name = keys[k];
            limits[k] = test_limit(&options);
            counts_denied |= limits[k].count_denied;
            checks[k] = check_of(&limits[k], "key", 1);
            weir_store_reset(store, &checks[k], NULL);
        }
        int64_t now_us = NOW;
        for (int e = 0; e < EVENTS; e++) {
            now_us += random_step(&limits[test_random(&random) % count], &random);
            weir_decision joint, rows[4], peeked[4];
            for (size_t k = 0; k < count; k++) {
                checks[k].cost = test_between(&random, 0, limits[k].most / 3 + 1);
                checks[k].id = keys[test_random(&random) % 8];
                checks[k].id_size = 1;
                weir_store_peek(store, &checks[k], now_us, &peeked[k], NULL);
            }
            assert_int_equal(weir_store_take_all(store, checks, count, now_us, &joint, rows, NULL),
                             WEIR_OK);
            bool all = true;
            for (size_t k = 0; k < count; k++) {
                all &= peeked[k].allowed;
                assert_int_equal(rows[k].allowed, peeked[k].allowed);
            }
            assert_int_equal(joint.allowed, all);
            if (joint.allowed || counts_denied) {
                continue;
            }
            bool passes = true, passed_before = joint.retry_after_us > 0;
            for (size_t k = 0; k < count; k++) {
                weir_decision now;
                weir_store_peek(store, &checks[k], now_us, &now, NULL);
                assert_same(&now, &peeked[k]);
                if (joint.retry_after_us == WEIR_NEVER) {
                    continue;
                }
                weir_store_peek(store, &checks[k], now_us + joint.retry_after_us, &now, NULL);
                passes &= now.allowed;
                weir_store_peek(store, &checks[k], now_us + joint.retry_after_us - 1, &now, NULL);
                passed_before &= now.allowed;
            }
            if (joint.retry_after_us != WEIR_NEVER) {
                assert_true(passes);
                assert_false(passed_before);
            }
        }
    }
    weir_store_close(store);
}

static void from_a_full_bucket_exactly_burst_pass(void **state)
{
    (void)state;
    weir_store *store = test_store(NULL);
    for (int64_t rate = 1; rate < 200; rate++) {
        const weir_limit limit = LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = rate,
                                       .period_us = WEIR_MINUTE, .burst = rate + 3);
        weir_check check = check_of(&limit, "key", 1);
        weir_store_reset(store, &check, NULL);
        for (int64_t i = 0; i < rate + 3; i++) {
            const weir_decision d = test_take(store, &limit, "key", 1, NOW + rate);
            assert_true(d.allowed);
            assert_int_equal(d.remaining, rate + 2 - i);
        }
        assert_false(test_take(store, &limit, "key", 1, NOW + rate).allowed);
    }
    weir_store_close(store);
}

// 7 per minute for ever: after any number of periods the bucket is exactly where it was.
static void no_rate_drifts(void **state)
{
    (void)state;
    weir_store *store = test_store(NULL);
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 7, .period_us = WEIR_MINUTE, .burst = 2);
    int64_t now_us = NOW, passed = 0;
    for (int i = 0; i < 70000; i++) {
        const weir_decision d = test_take(store, &limit, "key", 1, now_us);
        if (d.allowed) {
            passed++;
            continue;
        }
        now_us += d.retry_after_us;
    }
    // Two passed at once, and the last of the others came 1/7 of a minute times their number later,
    // rounded up once.
    assert_int_equal(passed, 35001);
    assert_int_equal(now_us - NOW, ((passed - 2) * WEIR_MINUTE + 6) / 7);
    weir_store_close(store);
}

// Every limit of an algorithm may follow every other: nothing breaks, and every answer is sound.
static void a_changed_limit_takes_effect_at_once(void **state)
{
    (void)state;
    uint64_t random = seed(3);
    weir_store *store = test_store(NULL);
    for (int i = 0; i < SEQUENCES * 20; i++) {
        for (int algorithm = WEIR_TOKEN_BUCKET; algorithm <= WEIR_CONCURRENCY; algorithm++) {
            const weir_limit_options options = random_options((weir_algorithm)algorithm, &random);
            const weir_limit limit = test_limit(&options);
            weir_check check = check_of(&limit, "key", test_between(&random, 0, limit.most));
            const int64_t now_us = NOW + test_between(&random, 0, WEIR_HOUR);
            weir_decision d;
            check.id = keys[test_random(&random) % 8];
            check.id_size = 1;
            assert_int_equal(weir_store_take(store, &check, now_us, &d, NULL), WEIR_OK);
            assert_sound(&d);
            assert_int_equal(d.limit, limit.most);
            if (!d.allowed) {
                assert_wait_is_exact(store, &check, now_us, d.retry_after_us);
            }
            if (algorithm != WEIR_CONCURRENCY && test_between(&random, 0, 3) == 0) {
                assert_int_equal(weir_store_refund(store, &check, now_us, &d, NULL), WEIR_OK);
                assert_int_equal(weir_store_charge(store, &check, now_us, &d, NULL), WEIR_OK);
                assert_sound(&d);
            }
        }
    }
    weir_store_close(store);
}

static void a_fraction_under_another_rate_is_rounded_up(void **state)
{
    (void)state;
    weir_store *store = test_store(NULL);
    const weir_limit seven =
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 7, .period_us = WEIR_MINUTE);
    const weir_limit eleven =
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 11, .period_us = WEIR_MINUTE);
    test_take(store, &seven, "key", 1, NOW); // full again in 8571428 4/7 us
    assert_int_equal(test_peek(store, &seven, "key", 1, NOW + 8571428).reset_after_us, 1);
    assert_int_equal(test_peek(store, &eleven, "key", 1, NOW).reset_after_us, 8571429);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wait_is_exact_and_a_refusal_changes_nothing),
        cmocka_unit_test(a_joint_wait_is_exact_and_a_joint_refusal_records_nothing),
        cmocka_unit_test(from_a_full_bucket_exactly_burst_pass),
        cmocka_unit_test(no_rate_drifts),
        cmocka_unit_test(a_changed_limit_takes_effect_at_once),
        cmocka_unit_test(a_fraction_under_another_rate_is_rounded_up),
    };
    return cmocka_run_group_tests_name("property", tests, NULL, NULL);
}
