// What a limit and a duration refuse, and the sentence that says so.

#include "support.h"

typedef struct refusal {
    weir_limit_options options;
    const char *says;
} refusal;

static void every_parameter_is_refused_by_name(void **state)
{
    (void)state;
    const refusal cases[] = {
        {{.name = "x", .algorithm = 0}, "algorithm was 0"},
        {{.name = "x", .algorithm = 8}, "algorithm was 8"},
        {{.name = NULL, .algorithm = WEIR_MIN_GAP, .gap_us = 1}, "name was empty"},
        {{.name = "", .algorithm = WEIR_MIN_GAP, .gap_us = 1}, "name was empty"},
        {{.name = "a\nb", .algorithm = WEIR_MIN_GAP, .gap_us = 1}, "byte 0x0a at 2"},
        {{.name = "caf\xc3\xa9", .algorithm = WEIR_MIN_GAP, .gap_us = 1}, "byte 0xc3 at 4"},
        {{.name = "12345678901234567890123456789012345678901234567890123456789012345",
          .algorithm = WEIR_MIN_GAP,
          .gap_us = 1},
         "longer than 64"},
        {{.name = "x", .algorithm = WEIR_TOKEN_BUCKET, .period_us = 1}, "rate was 0"},
        {{.name = "x", .algorithm = WEIR_TOKEN_BUCKET, .rate = -1, .period_us = 1}, "rate was -1"},
        {{.name = "x",
          .algorithm = WEIR_TOKEN_BUCKET,
          .rate = (INT64_C(1) << 40) + 1,
          .period_us = 1},
         "rate was 1099511627777"},
        {{.name = "x", .algorithm = WEIR_TOKEN_BUCKET, .rate = 1}, "period was 0"},
        {{.name = "x",
          .algorithm = WEIR_TOKEN_BUCKET,
          .rate = 1,
          .period_us = (INT64_C(1) << 45) + 1},
         "period was 35184372088833"},
        {{.name = "x", .algorithm = WEIR_TOKEN_BUCKET, .rate = 1, .period_us = 1, .burst = -2},
         "burst was -2"},
        {{.name = "x",
          .algorithm = WEIR_TOKEN_BUCKET,
          .rate = 1,
          .period_us = WEIR_DAY,
          .burst = 100000},
         "2^50 us"},
        {{.name = "x", .algorithm = WEIR_TOKEN_BUCKET, .rate = 1, .period_us = 1, .window_us = 1},
         "window was 1; token_bucket has none"},
        {{.name = "x", .algorithm = WEIR_LEAKY_BUCKET, .rate = 1, .period_us = 1, .queue = -1},
         "queue was -1"},
        {{.name = "x", .algorithm = WEIR_FIXED_WINDOW, .limit = -1, .window_us = 1},
         "limit was -1"},
        {{.name = "x", .algorithm = WEIR_FIXED_WINDOW, .limit = 1}, "window was 0"},
        {{.name = "x", .algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = 5, .offset_us = 5},
         "offset was 5; it must be less than the window"},
        {{.name = "x", .algorithm = WEIR_SLIDING_COUNTER, .limit = 1, .window_us = 10, .slots = 3},
         "slots was 3; it must divide the window"},
        {{.name = "x",
          .algorithm = WEIR_SLIDING_COUNTER,
          .limit = 1,
          .window_us = 601,
          .slots = 601},
         "slots was 601"},
        {{.name = "x", .algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = 1, .strict = true},
         "strict was true; fixed_window has none"},
        {{.name = "x",
          .algorithm = WEIR_FIXED_WINDOW,
          .limit = 1,
          .window_us = 1,
          .count_denied = true},
         "count_denied was true"},
        {{.name = "x", .algorithm = WEIR_MIN_GAP}, "gap was 0"},
        {{.name = "x", .algorithm = WEIR_CONCURRENCY, .limit = 1}, "ttl was 0"},
        {{.name = "x", .algorithm = WEIR_MIN_GAP, .gap_us = 1, .reserved = {1}}, "reserved"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_limit limit = {.most = 42};
        weir_error error = {0};
        assert_int_equal(weir_limit_init(&limit, &cases[i].options, &error), WEIR_INVALID);
        assert_int_equal(limit.most, 42);
        if (strstr(error.message, cases[i].says) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].says);
        }
    }
}

static void the_largest_parameters_are_taken(void **state)
{
    (void)state;
    const int64_t count = INT64_C(1) << 40, duration = INT64_C(1) << 45;
    const weir_limit_options all[] = {
        {.algorithm = WEIR_TOKEN_BUCKET, .rate = count, .period_us = duration, .burst = count},
        {.algorithm = WEIR_TOKEN_BUCKET,
         .rate = count - 1,
         .period_us = duration,
         .burst = 32 * count / 32},
        {.algorithm = WEIR_LEAKY_BUCKET, .rate = count, .period_us = duration, .queue = count},
        {.algorithm = WEIR_FIXED_WINDOW,
         .limit = count,
         .window_us = duration,
         .offset_us = duration - 1},
        {.algorithm = WEIR_SLIDING_LOG, .limit = count, .window_us = duration},
        {.algorithm = WEIR_SLIDING_COUNTER, .limit = count, .window_us = duration, .slots = 512},
        {.algorithm = WEIR_MIN_GAP, .gap_us = duration},
        {.algorithm = WEIR_CONCURRENCY, .limit = count, .ttl_us = duration},
    };
    weir_store *store = test_store(NULL);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        weir_limit_options options = all[i];
        options.name = "largest";
        const weir_limit limit = test_limit(&options);
        const char key[] = {(char)('a' + i), '\0'};
        const weir_decision d = test_take(store, &limit, key, 1, WEIR_NOW_MAX);
        assert_true(d.allowed);
        assert_int_equal(d.remaining, limit.most - 1);
    }
    weir_store_close(store);
}

static void what_was_said_of_zero_holds(void **state)
{
    (void)state;
    assert_int_equal(LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 5, .period_us = 1).most, 5);
    assert_int_equal(
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 5, .period_us = 1, .burst = WEIR_NONE).most,
        0);
    assert_int_equal(LIMIT(.algorithm = WEIR_LEAKY_BUCKET, .rate = 5, .period_us = 1).most, 1);
    assert_int_equal(LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .window_us = 60).slots, 1);
}

static void durations_are_read_as_people_write_them(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t us;
    } good[] = {
        {"1us", 1},           {"250ms", 250000},
        {"90s", 90000000},    {"1m30s", 90000000},
        {"1.5h", 5400000000}, {"1d", WEIR_DAY},
        {"1w", 7 * WEIR_DAY}, {"0s", 0},
        {"0.25ms", 250},      {"1h1m1s1ms1us", 3661001001},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t us = -1;
        assert_int_equal(weir_duration_parse(good[i].text, "window", &us, NULL), WEIR_OK);
        assert_int_equal(us, good[i].us);
    }
    const char *const bad[] = {"",      "5",      "s",    "1 s",    "1s ",
                               " 1s",   "1s1m",   "1s1s", "1M",     "-1s",
                               "+1s",   "1e3s",   "1,5s", "1.s",    ".5s",
                               "0.1us", "1month", "0x1s", "400d1w", "99999999999999999s",
                               "408d",  "1min",   "1S",   "1s\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t us = 42;
        weir_error error = {0};
        assert_int_equal(weir_duration_parse(bad[i], "window", &us, &error), WEIR_INVALID);
        assert_int_equal(us, 42);
        assert_non_null(strstr(error.message, "window was \""));
    }
}

static void rates_are_read_as_people_write_them(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t rate, period_us;
    } good[] = {
        {"10/s", 10, WEIR_SECOND},
        {"100 per minute", 100, WEIR_MINUTE},
        {"5/15m", 5, 15 * WEIR_MINUTE},
        {"1000/day", 1000, WEIR_DAY},
        {"3 per 1m30s", 3, 90 * WEIR_SECOND},
        {"1/us", 1, 1},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t rate, period_us;
        assert_int_equal(weir_rate_parse(good[i].text, "rate", &rate, &period_us, NULL), WEIR_OK);
        assert_int_equal(rate, good[i].rate);
        assert_int_equal(period_us, good[i].period_us);
    }
    const char *const bad[] = {"",      "10",   "/s",     "10/",    "10 / s",    "10/month",
                               "1.5/s", "-1/s", "10 per", "10/s/s", "10 minutes"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t rate, period_us;
        assert_int_equal(weir_rate_parse(bad[i], "rate", &rate, &period_us, NULL), WEIR_INVALID);
    }
}

static void durations_are_written_as_they_are_read(void **state)
{
    (void)state;
    uint64_t random = 5;
    char text[WEIR_DURATION_TEXT];
    for (int i = 0; i < 10000; i++) {
        const int64_t us =
            test_between(&random, 0, WEIR_DURATION_MAX) >> test_between(&random, 0, 44);
        int64_t read = -1;
        assert_int_equal(weir_duration_parse(weir_duration_format(us, text), "it", &read, NULL),
                         WEIR_OK);
        assert_int_equal(read, us);
    }
    assert_string_equal(weir_duration_format(90 * WEIR_SECOND, text), "1m30s");
    assert_string_equal(weir_duration_format(WEIR_NEVER, text), "-1");
}

static void algorithms_and_statuses_have_names(void **state)
{
    (void)state;
    weir_algorithm algorithm;
    for (int i = WEIR_TOKEN_BUCKET; i <= WEIR_CONCURRENCY; i++) {
        assert_int_equal(
            weir_algorithm_parse(weir_algorithm_name((weir_algorithm)i), &algorithm, NULL),
            WEIR_OK);
        assert_int_equal(algorithm, i);
    }
    assert_null(weir_algorithm_name((weir_algorithm)0));
    assert_null(weir_algorithm_name((weir_algorithm)-1));
    assert_int_equal(weir_algorithm_parse("bucket", &algorithm, NULL), WEIR_INVALID);
    assert_string_equal(weir_status_name(WEIR_INVALID), "WEIR_INVALID");
    assert_string_equal(weir_status_name((weir_status)99), "unknown status");
    assert_int_equal(weir_abi(), WEIR_ABI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_is_refused_by_name),
        cmocka_unit_test(the_largest_parameters_are_taken),
        cmocka_unit_test(what_was_said_of_zero_holds),
        cmocka_unit_test(durations_are_read_as_people_write_them),
        cmocka_unit_test(rates_are_read_as_people_write_them),
        cmocka_unit_test(durations_are_written_as_they_are_read),
        cmocka_unit_test(algorithms_and_statuses_have_names),
    };
    return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
