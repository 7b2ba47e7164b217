// Conditions that fail a replay.

#include "support.h"

#include "replay/fail_if.h"

static bool holds(const char *text)
{
    const fail_counts counts = {
        .requests = 200, .allowed = 190, .refused = 10, .failed = 0, .skipped = 50, .evicted = 3};
    fail_if condition;
    char error[400];
    if (!fail_if_parse(&condition, text, error, sizeof error)) {
        fail_msg("%s", error);
    }
    return fail_if_holds(&condition, &counts);
}

static void compares_counts_and_percentages(void **state)
{
    (void)state;
    assert_true(holds("refused > 1%"));
    assert_true(holds("refused>=5%"));
    assert_false(holds("refused > 5 %"));
    assert_true(holds(" refused == 10 "));
    assert_false(holds("refused != 10"));
    assert_true(holds("allowed < 191"));
    assert_true(holds("requests <= 200"));
    assert_false(holds("failed > 0"));
    assert_true(holds("skipped >= 20%"));
    assert_false(holds("skipped > 20.5%"));
    assert_true(holds("evicted > 2.5"));
}

static void refuses_what_is_no_condition(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "refused",
                                        "refused >",
                                        "refused > x",
                                        "refused > 1%%",
                                        "refused > -1",
                                        "refuse > 1",
                                        "refused => 1",
                                        "refused > 1.",
                                        "> 1",
                                        "refused > 1 allowed",
                                        "Refused > 1",
                                        "refused > .5"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fail_if condition;
        char error[400];
        if (fail_if_parse(&condition, cases[i], error, sizeof error)) {
            fail_msg("\"%s\" was taken", cases[i]);
        }
        assert_non_null(strstr(error, "it must be like"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares_counts_and_percentages),
        cmocka_unit_test(refuses_what_is_no_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
