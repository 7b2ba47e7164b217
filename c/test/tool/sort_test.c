// Records come out by time, and those of one time as they stood.

#include "support.h"

#include "log/sort.h"

static void assert_sorted(record *records, size_t count)
{
    assert_true(sort_records(records, count));
    for (size_t i = 1; i < count; i++) {
        assert_true(records[i - 1].time_us <= records[i].time_us);
        if (records[i - 1].time_us == records[i].time_us) {
            assert_true(records[i - 1].where < records[i].where);
        }
    }
}

static void sorts_stably_at_every_size(void **state)
{
    (void)state;
    static record records[4000];
    uint64_t random = 1;
    for (size_t count = 0; count < 4000; count = count < 70 ? count + 1 : count * 3 / 2) {
        for (int kind = 0; kind < 4; kind++) {
            for (size_t i = 0; i < count; i++) {
                int64_t in_order = (int64_t)i;
                int64_t times[] = {test_between(&random, 0, 1000), in_order, -in_order,
                                   in_order + test_between(&random, -20, 20)};
                records[i] = (record){times[kind], i};
            }
            assert_sorted(records, count);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_stably_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
