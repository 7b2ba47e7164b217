// What people are shown, and what they may write as options.

#include "support.h"

#include "text.h"

static void bytes_are_shown_as_printable_ascii(void **state)
{
    (void)state;
    char out[16];
    assert_string_equal(text_escape("bob", 3, out, sizeof out), "bob");
    assert_string_equal(text_escape("\x1b[2J", 4, out, sizeof out), "\\x1b[2J");
    assert_string_equal(text_escape("a\\b\0", 4, out, sizeof out), "a\\\\b\\x00");
    assert_string_equal(text_escape("\xc3\xa9", 2, out, sizeof out), "\\xc3\\xa9");
    assert_string_equal(text_escape("", 0, out, sizeof out), "");
    assert_string_equal(text_escape("123456789012345", 15, out, sizeof out), "123456789012345");
    assert_string_equal(text_escape("1234567890123456", 16, out, sizeof out), "123456789012...");
    assert_string_equal(text_escape("12345678901\x01\x02", 13, out, sizeof out), "12345678901...");
}

static void numbers_and_spans_read_well(void **state)
{
    (void)state;
    char count[TEXT_COUNT], percent[TEXT_PERCENT], span[TEXT_SPAN];
    assert_string_equal(text_count(0, count), "0");
    assert_string_equal(text_count(999, count), "999");
    assert_string_equal(text_count(1000, count), "1,000");
    assert_string_equal(text_count(UINT64_MAX, count), "18,446,744,073,709,551,615");
    assert_string_equal(text_percent(1, 8, percent), "12.50 %");
    assert_string_equal(text_percent(0, 0, percent), "-");
    assert_string_equal(text_span(0, span), "0us");
    assert_string_equal(text_span(90 * WEIR_SECOND, span), "1m 30s");
    assert_string_equal(text_span(9 * WEIR_DAY + 2 * WEIR_HOUR + 1, span), "9d 2h");
    assert_string_equal(text_span(1500, span), "1ms");
}

static void sizes_are_read_with_their_units(void **state)
{
    (void)state;
    size_t size;
    assert_true(text_size_parse("65536", &size) && size == 65536);
    assert_true(text_size_parse("64KiB", &size) && size == 65536);
    assert_true(text_size_parse("64MiB", &size) && size == (size_t)64 << 20);
    assert_true(text_size_parse("8GiB", &size) && size == (size_t)8 << 30);
    static const char *const wrong[] = {"",   "MiB",    "64MB", "64 MiB",
                                        "-1", "1.5MiB", "0x10", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(text_size_parse(wrong[i], &size));
    }
    uint64_t whole;
    assert_true(text_whole_parse("10", 10, &whole) && whole == 10);
    assert_false(text_whole_parse("11", 10, &whole));
    assert_false(text_whole_parse("", 10, &whole));
    assert_false(text_whole_parse("+1", 10, &whole));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_shown_as_printable_ascii),
        cmocka_unit_test(numbers_and_spans_read_well),
        cmocka_unit_test(sizes_are_read_with_their_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
