// Times as logs write them, and as reports do.

#include "support.h"

#include "log/stamp.h"

#define MAY_12 INT64_C(1715472000000000) // 2024-05-12T00:00:00Z

static int64_t read_good(const char *text)
{
    stamp_reader reader = {0};
    int64_t time_us = 0;
    const char *wrong = stamp_read(&reader, text, strlen(text), &time_us);
    if (wrong) {
        fail_msg("%s: %s", text, wrong);
    }
    return time_us;
}

static void reads_each_way_to_write_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t time_us;
    } cases[] = {
        {"12/May/2024:00:00:17 +0000", MAY_12 + 17000000},
        {"[12/May/2024:00:00:17 +0000]", MAY_12 + 17000000},
        {"12/May/2024:00:00:17.25 +0200", MAY_12 - 7200000000 + 17250000},
        {"2024-05-12T00:00:17Z", MAY_12 + 17000000},
        {"2024-05-12t00:00:17.000001z", MAY_12 + 17000001},
        {"2024-05-12 00:00:17,5", MAY_12 + 17500000},
        {"2024-05-12T00:00Z", MAY_12},
        {"2024/05/12 00:00:17", MAY_12 + 17000000},
        {"2024-05-12T02:00:17+02:00", MAY_12 + 17000000},
        {"2024-05-11T20:00:17-0400", MAY_12 + 17000000},
        {"2024-05-12T05:30:17+05:30", MAY_12 + 17000000},
        {"2024-05-12T01:00:17 +01", MAY_12 + 17000000},
        {"2024-05-12 00:00:17 UTC", MAY_12 + 17000000},
        {"2024-05-12T00:00:17.123456789Z", MAY_12 + 17123456},
        {"1972-06-30T23:59:60Z", INT64_C(78796800000000)},
        {"2000-02-29T00:00:00Z", INT64_C(951782400000000)},
        {"1715472017", MAY_12 + 17000000},
        {"1715472017.000001", MAY_12 + 17000001},
        {"1715472017.0000019", MAY_12 + 17000001},
        {"1715472017123", MAY_12 + 17123000},
        {"1715472017123.456", MAY_12 + 17123456},
        {"1715472017123456", MAY_12 + 17123456},
        {"1715472017123456789", MAY_12 + 17123456},
        {"1", 1000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (read_good(cases[i].text) != cases[i].time_us) {
            fail_msg("%s was read as %lld", cases[i].text, (long long)read_good(cases[i].text));
        }
    }
}

static void refuses_what_is_no_time(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "-",
                                        "soon",
                                        "[]",
                                        "31/Feb/2024:00:00:00 +0000",
                                        "12/Mai/2024:00:00:00 +0000",
                                        "2023-02-29T00:00:00Z",
                                        "2024-13-01T00:00:00Z",
                                        "2024-05-12",
                                        "2024-05-12T24:00:00Z",
                                        "2024-05-12T00:60:00Z",
                                        "2024-05-12T00:00:61Z",
                                        "2024-05-12T00:00:00+99:00",
                                        "2024-05-12T00:00:00 CEST",
                                        "2024-05-12T00:00:00.Z",
                                        "0",
                                        "-1",
                                        "1.",
                                        "1e9",
                                        "0x10",
                                        "1 ",
                                        " 1",
                                        "99999999999999999999",
                                        "9007199254740993000",
                                        "1969-12-31T23:59:59Z",
                                        "2200-01-01T00:00:00Z",
                                        "12/May/2024 00:00:17 +0000",
                                        "12/May/2024:0:00:17 +0000",
                                        "2024-05/12 00:00:17",
                                        "2024-05-12T00:00:17.000000000000000000000000000000Z"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stamp_reader reader = {0};
        int64_t time_us;
        if (!stamp_read(&reader, cases[i], strlen(cases[i]), &time_us)) {
            fail_msg("\"%s\" was read as %lld", cases[i], (long long)time_us);
        }
    }
}

static void one_reader_gives_what_fresh_ones_do(void **state)
{
    (void)state;
    static const char *const texts[] = {"12/May/2024:00:00:17 +0000",
                                        "12/May/2024:00:00:17 +0000",
                                        "12/May/2024:00:00:18 +0000",
                                        "12/May/2024:00:00:18 +0200",
                                        "2024-05-12T00:00:17Z",
                                        "13/May/2024:00:00:18 +0200",
                                        "31/Feb/2024:00:00:18 +0200",
                                        "13/May/2024:00:00:18 +0200",
                                        "1715472017",
                                        "1715472017"};
    stamp_reader kept = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        stamp_reader fresh = {0};
        int64_t by_kept = 0, by_fresh = 0;
        const char *wrong_kept = stamp_read(&kept, texts[i], strlen(texts[i]), &by_kept);
        const char *wrong_fresh = stamp_read(&fresh, texts[i], strlen(texts[i]), &by_fresh);
        assert_true((wrong_kept == NULL) == (wrong_fresh == NULL));
        assert_int_equal(by_kept, by_fresh);
    }
    assert_true(kept.zoned && kept.zones_differ);
}

static void every_day_is_read_as_it_is_written(void **state)
{
    (void)state;
    for (int64_t day = 1; day < 52000; day++) {
        char text[STAMP_ISO_TEXT];
        int64_t time_us = day * WEIR_DAY + (day * 7919 % 86400) * WEIR_SECOND + day;
        assert_int_equal(read_good(stamp_format(time_us, text)), time_us);
    }
}

static void the_step_is_the_largest_unit_in_which_all_are_whole(void **state)
{
    (void)state;
    stamp_step step = STAMP_STEP_START;
    stamp_step_add(&step, MAY_12);
    assert_int_equal(stamp_step_us(&step), 1000000);
    for (int i = 0; i < 100; i++) {
        stamp_step_add(&step, MAY_12 + i * WEIR_MINUTE);
    }
    assert_int_equal(stamp_step_us(&step), WEIR_MINUTE);
    stamp_step_add(&step, MAY_12 + 17000000);
    assert_int_equal(stamp_step_us(&step), 1000000);
    stamp_step_add(&step, MAY_12 + 20000);
    assert_int_equal(stamp_step_us(&step), 10000);
    stamp_step_add(&step, MAY_12 + 1);
    assert_int_equal(stamp_step_us(&step), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_way_to_write_a_time),
        cmocka_unit_test(refuses_what_is_no_time),
        cmocka_unit_test(one_reader_gives_what_fresh_ones_do),
        cmocka_unit_test(every_day_is_read_as_it_is_written),
        cmocka_unit_test(the_step_is_the_largest_unit_in_which_all_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
