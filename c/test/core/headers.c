// What the headers of an answer say, to the byte: every rounding edge, every bound, every refusal.

#include <stdio.h>

#include "support.h"

typedef struct answer {
    weir_headers headers;
    weir_error error;
} answer;

// One for all tests: what was left of the last must not matter.
static answer last;

static const char *value_of(const weir_headers *h, const char *name)
{
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->list[i].name, name) == 0) {
            return h->list[i].value;
        }
    }
    return NULL;
}

static void assert_value(const char *name, const char *expected)
{
    const char *value = value_of(&last.headers, name);
    if (expected == NULL) {
        assert_null(value);
        return;
    }
    assert_non_null(value);
    assert_string_equal(value, expected);
}

static void init(const weir_decision *decision, const weir_check *checks, const weir_decision *rows,
                 size_t count, const weir_headers_options *options)
{
    last.error.message[0] = '\0';
    if (weir_headers_init(&last.headers, decision, checks, rows, count, options, &last.error) !=
        WEIR_OK) {
        fail_msg("%s", last.error.message);
    }
}

// Of one check of a fixed window, "test", 9 a minute.
static void init_one(weir_decision decision, const weir_headers_options *options)
{
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 9, .window_us = WEIR_MINUTE);
    const weir_check check = check_of(&limit, "bob", 1);
    decision.limit = 9;
    init(&decision, &check, NULL, 1, options);
}

#define NAMED(...)   test_limit(&(weir_limit_options){__VA_ARGS__})
#define ALLOWED(...) ((weir_decision){.allowed = true, __VA_ARGS__})
#define REFUSED(...) ((weir_decision){.allowed = false, __VA_ARGS__})

static void seconds_are_rounded_up(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *seconds;
    } cases[] = {
        {1, "1"},
        {999999, "1"},
        {1000000, "1"},
        {1000001, "2"},
        {1999999, "2"},
        {2000000, "2"},
        {5001000, "6"},
        {365 * WEIR_DAY, "31536000"},
        {INT64_C(1) << 52, "4503599628"},
        {INT64_C(1) << 60, "1152921504607"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char limits[64];
        snprintf(limits, sizeof limits, "\"test\";r=0;t=%s", cases[i].seconds);
        init_one(REFUSED(.retry_after_us = cases[i].us), NULL);
        assert_value("Retry-After", cases[i].seconds);
        assert_value("RateLimit", limits);
        init_one(ALLOWED(.reset_after_us = cases[i].us), NULL);
        assert_value("Retry-After", NULL);
        assert_value("RateLimit", limits);
    }
}

static void an_epoch_is_the_instant_rounded_up(void **state)
{
    (void)state;
    static const struct {
        int64_t now_us, reset_us;
        const char *epoch;
    } cases[] = {
        {NOW, 0, "1700000000"},
        {NOW, 1, "1700000001"},
        {NOW + 1, 999999, "1700000001"},
        {NOW + 1, 1000000, "1700000002"},
        {1, 1, "1"},
        {WEIR_NOW_MAX, INT64_C(1) << 60, "1157425104235"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const weir_headers_options options = {.form = WEIR_HEADERS_X_EPOCH,
                                              .now_us = cases[i].now_us};
        init_one(ALLOWED(.remaining = 3, .reset_after_us = cases[i].reset_us), &options);
        assert_value("X-RateLimit-Reset", cases[i].epoch);
    }
}

static void a_refusal_says_when_unless_no_wait_can_help(void **state)
{
    (void)state;
    init_one(ALLOWED(.remaining = 8, .reset_after_us = WEIR_SECOND), NULL);
    assert_int_equal(last.headers.status, 200);
    assert_value("Retry-After", NULL);
    assert_value("Cache-Control", NULL);
    init_one(REFUSED(.retry_after_us = 1, .reset_after_us = 5 * WEIR_SECOND), NULL);
    assert_int_equal(last.headers.status, 429);
    assert_value("Retry-After", "1");
    assert_value("Cache-Control", "no-store");
    assert_value("RateLimit", "\"test\";r=0;t=1");
    init_one(REFUSED(.remaining = 4, .retry_after_us = WEIR_NEVER, .reset_after_us = 7), NULL);
    assert_int_equal(last.headers.status, 429);
    assert_value("Retry-After", NULL);
    assert_value("Cache-Control", "no-store");
    assert_value("RateLimit", "\"test\";r=4");
    init_one(REFUSED(.retry_after_us = 0), NULL);
    assert_value("Retry-After", "1");
}

static void every_form_is_written_to_the_byte(void **state)
{
    (void)state;
    const weir_decision row = REFUSED(.remaining = 5, .retry_after_us = 29500000);
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_08});
    assert_int_equal(last.headers.count, 4);
    assert_value("RateLimit-Policy", "\"test\";q=9;w=60");
    assert_value("RateLimit", "\"test\";r=5;t=30");
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_07});
    assert_int_equal(last.headers.count, 3);
    assert_value("RateLimit", "limit=9, remaining=5, reset=30");
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_06});
    assert_int_equal(last.headers.count, 5);
    assert_value("RateLimit-Limit", "9");
    assert_value("RateLimit-Remaining", "5");
    assert_value("RateLimit-Reset", "30");
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_X_SECONDS});
    assert_int_equal(last.headers.count, 5);
    assert_value("X-RateLimit-Limit", "9");
    assert_value("X-RateLimit-Remaining", "5");
    assert_value("X-RateLimit-Reset", "30");
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_X_EPOCH, .now_us = NOW});
    assert_int_equal(last.headers.count, 5);
    assert_value("X-RateLimit-Reset", "1700000030");
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_NONE});
    assert_int_equal(last.headers.count, 2);
    assert_value("Retry-After", "30");
}

static void a_form_without_a_time_leaves_it_out(void **state)
{
    (void)state;
    const weir_decision row = REFUSED(.remaining = 5, .retry_after_us = WEIR_NEVER);
    init_one(row, &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_07});
    assert_value("RateLimit", "limit=9, remaining=5");
    for (int form = WEIR_HEADERS_DRAFT_06; form <= WEIR_HEADERS_X_EPOCH; form++) {
        init_one(row, &(weir_headers_options){.form = (weir_headers_form)form, .now_us = NOW});
        assert_int_equal(last.headers.count, 3);
    }
}

static void assert_policy(const weir_limit limit, const char *expected)
{
    const weir_check check = check_of(&limit, "bob", 1);
    init(&ALLOWED(.limit = limit.most), &check, NULL, 1, NULL);
    assert_value("RateLimit-Policy", expected);
}

static void the_window_is_when_the_quota_comes_back(void **state)
{
    (void)state;
    assert_policy(LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 10, .period_us = WEIR_MINUTE),
                  "\"test\";q=10;w=60");
    assert_policy(
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 10, .period_us = WEIR_MINUTE, .burst = 25),
        "\"test\";q=25;w=150");
    assert_policy(
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 7, .period_us = WEIR_SECOND, .burst = 8),
        "\"test\";q=8;w=2");
    assert_policy(
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 10, .period_us = WEIR_SECOND, .burst = 9),
        "\"test\";q=9");
    assert_policy(
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 1, .period_us = WEIR_DAY, .burst = WEIR_NONE),
        "\"test\";q=0");
    assert_policy(
        LIMIT(.algorithm = WEIR_LEAKY_BUCKET, .rate = 2, .period_us = WEIR_SECOND, .queue = 4),
        "\"test\";q=5;w=3");
    assert_policy(LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 0, .window_us = WEIR_DAY + 1),
                  "\"test\";q=0;w=86401");
    assert_policy(LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 5, .window_us = 999999),
                  "\"test\";q=5");
    assert_policy(LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 5, .window_us = 1000000),
                  "\"test\";q=5;w=1");
    assert_policy(LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .limit = 5,
                        .window_us = 60 * WEIR_MINUTE, .slots = 60),
                  "\"test\";q=5;w=3600");
    assert_policy(LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = 2500000), "\"test\";q=1;w=3");
    assert_policy(LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 3, .ttl_us = WEIR_MINUTE),
                  "\"test\";q=3;qu=\"concurrent-requests\"");
    assert_policy(LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = WEIR_COUNT_MAX,
                        .window_us = WEIR_DURATION_MAX),
                  "\"test\";q=1099511627776;w=35184373");
    assert_policy(LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = WEIR_COUNT_MAX,
                        .period_us = WEIR_SECOND, .burst = WEIR_COST_MAX),
                  "\"test\";q=8796093022208;w=8");
}

static void a_decision_that_was_not_the_stores_tells_of_policies_alone(void **state)
{
    (void)state;
    const weir_headers_options options = {.body = true};
    init_one(REFUSED(.retry_after_us = WEIR_SECOND, .source = WEIR_SOURCE_DENY_ON_ERROR), &options);
    assert_int_equal(last.headers.status, 503);
    assert_value("Retry-After", "1");
    assert_value("Cache-Control", "no-store");
    assert_value("RateLimit-Policy", "\"test\";q=9;w=60");
    assert_value("RateLimit", NULL);
    assert_string_equal(
        last.headers.body,
        "{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
        "\"title\":\"Temporary Reduced Capacity\",\"status\":503,\"violated-policies\":[]}");
    init_one(ALLOWED(.source = WEIR_SOURCE_ALLOW_ON_ERROR), &options);
    assert_int_equal(last.headers.status, 200);
    assert_int_equal(last.headers.count, 1);
    assert_null(last.headers.body);
    init_one(ALLOWED(.source = WEIR_SOURCE_ALLOW_ON_ERROR),
             &(weir_headers_options){.form = WEIR_HEADERS_X_SECONDS});
    assert_int_equal(last.headers.count, 0);
}

static void the_word_of_a_policy_has_no_wait_and_no_limits(void **state)
{
    (void)state;
    const weir_headers_options options = {.body = true};
    init(&REFUSED(0), NULL, NULL, 0, &options);
    assert_int_equal(last.headers.status, 429);
    assert_int_equal(last.headers.count, 1);
    assert_value("Cache-Control", "no-store");
    assert_string_equal(
        last.headers.body,
        "{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429}");
    assert_string_equal(last.headers.content_type, "application/problem+json");
    init(&ALLOWED(0), NULL, NULL, 0, &options);
    assert_int_equal(last.headers.status, 200);
    assert_int_equal(last.headers.count, 0);
    assert_null(last.headers.body);
    assert_int_equal(last.headers.body_size, 0);
}

// Three limits: one passes, one refuses, one passes but has a wait, since it counts what is denied.
static void several_limits_are_told_and_those_in_shadow_are_not(void **state)
{
    (void)state;
    const weir_limit a = NAMED(.name = "a", .algorithm = WEIR_MIN_GAP, .gap_us = WEIR_SECOND);
    const weir_limit b =
        NAMED(.name = "b", .algorithm = WEIR_SLIDING_LOG, .limit = 4, .window_us = WEIR_HOUR);
    const weir_limit c =
        NAMED(.name = "c", .algorithm = WEIR_MIN_GAP, .gap_us = WEIR_MINUTE, .count_denied = true);
    const weir_check checks[] = {check_of(&a, "x", 1), check_of(&b, "yy", 1),
                                 check_of(&c, "zzz", 1)};
    const weir_decision rows[] = {
        ALLOWED(.limit = 1, .remaining = 1),
        REFUSED(.limit = 4, .retry_after_us = 3000001, .reset_after_us = WEIR_HOUR),
        ALLOWED(.limit = 1, .retry_after_us = WEIR_MINUTE, .reset_after_us = WEIR_MINUTE),
    };
    const weir_decision joint = REFUSED(.limit = 1, .retry_after_us = WEIR_MINUTE, .binding = 2);
    init(&joint, checks, rows, 3, &(weir_headers_options){.body = true});
    assert_value("Retry-After", "60");
    assert_value("RateLimit-Policy", "\"a\";q=1;w=1, \"b\";q=4;w=3600, \"c\";q=1;w=60");
    assert_value("RateLimit", "\"a\";r=1;t=0, \"b\";r=0;t=4, \"c\";r=0;t=60");
    assert_non_null(strstr(last.headers.body, "\"violated-policies\":[\"b\",\"c\"]}"));
    init(&joint, checks, rows, 3,
         &(weir_headers_options){.partition_key = true, .shadow = (bool[]){true, false, false}});
    assert_value("RateLimit-Policy", "\"b\";q=4;w=3600;pk=:eXk=:, \"c\";q=1;w=60;pk=:enp6:");
    assert_value("RateLimit", "\"b\";r=0;t=4;pk=:eXk=:, \"c\";r=0;t=60;pk=:enp6:");
    init(&joint, checks, rows, 3,
         &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_07,
                                 .shadow = (bool[]){true, true, false}});
    assert_value("RateLimit", "limit=1, remaining=0, reset=60");
    const weir_decision by_b = REFUSED(.limit = 1, .retry_after_us = 3000001, .binding = 1);
    init(&by_b, checks, rows, 3, &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_07});
    assert_value("RateLimit", "limit=4, remaining=0, reset=4");
    init(&by_b, checks, rows, 3,
         &(weir_headers_options){.form = WEIR_HEADERS_DRAFT_07,
                                 .shadow = (bool[]){true, false, false}});
    assert_value("RateLimit", "limit=4, remaining=0, reset=4");
    init(&joint, checks, rows, 3,
         &(weir_headers_options){.units = (const char *const[]){NULL, "content-bytes", "\"\\"}});
    assert_value("RateLimit-Policy", "\"a\";q=1;w=1, \"b\";q=4;qu=\"content-bytes\";w=3600, "
                                     "\"c\";q=1;qu=\"\\\"\\\\\";w=60");
}

static void a_row_in_shadow_may_be_any(void **state)
{
    (void)state;
    const weir_limit a = NAMED(.name = "a", .algorithm = WEIR_MIN_GAP, .gap_us = WEIR_SECOND);
    const weir_check checks[] = {check_of(&a, "x", 1), check_of(&a, "y", 1)};
    const weir_decision rows[] = {{.status = WEIR_INDETERMINATE, .remaining = -9},
                                  ALLOWED(.limit = 1)};
    init(&ALLOWED(.limit = 1, .binding = 1), checks, rows, 2,
         &(weir_headers_options){.shadow = (bool[]){true, false}});
    assert_value("RateLimit", "\"a\";r=0;t=0");
    init(&ALLOWED(0), checks, rows, 2, &(weir_headers_options){.shadow = (bool[]){true, true}});
    assert_int_equal(last.headers.count, 0);
}

typedef struct crowd {
    weir_limit limits[WEIR_CHECKS_MAX];
    weir_check checks[WEIR_CHECKS_MAX];
    weir_decision rows[WEIR_CHECKS_MAX];
    const char *units[WEIR_CHECKS_MAX];
    char key[20000];
} crowd;

// As many as there may be, with the longest names, units and numbers, all refused.
static void fill_crowd(crowd *c)
{
    static const char longest[] = "\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\""
                                  "\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"\\\"";
    assert_int_equal(strlen(longest), WEIR_NAME_MAX - 2);
    char name[WEIR_NAME_MAX + 1];
    snprintf(name, sizeof name, "%s\"\\", longest);
    memset(c->key, 0xff, sizeof c->key);
    for (size_t i = 0; i < WEIR_CHECKS_MAX; i++) {
        c->limits[i] = NAMED(.name = name, .algorithm = WEIR_TOKEN_BUCKET, .rate = 7,
                             .period_us = 64, .burst = WEIR_COST_MAX);
        c->checks[i] = (weir_check){.limit = &c->limits[i], .key = c->key, .key_size = 150};
        c->rows[i] = REFUSED(.limit = WEIR_COST_MAX, .remaining = WEIR_COST_MAX,
                             .retry_after_us = INT64_C(1) << 60);
        c->units[i] = c->limits[i].name;
    }
}

static void as_many_limits_as_there_may_be_fit(void **state)
{
    (void)state;
    static crowd c;
    fill_crowd(&c);
    const weir_headers_options options = {.body = true, .partition_key = true, .units = c.units};
    init(&c.rows[0], c.checks, c.rows, WEIR_CHECKS_MAX, &options);
    const char *limits = value_of(&last.headers, "RateLimit");
    size_t members = 0;
    for (const char *at = limits; (at = strstr(at, ";pk=:")) != NULL; at++) {
        members++;
    }
    assert_int_equal(members, WEIR_CHECKS_MAX);
    assert_int_equal(limits[strlen(limits) - 1], ':');
    assert_int_equal(last.headers.body[last.headers.body_size - 1], '}');
    c.checks[7].key_size = sizeof c.key;
    assert_int_equal(weir_headers_init(&last.headers, &c.rows[0], c.checks, c.rows, WEIR_CHECKS_MAX,
                                       &options, &last.error),
                     WEIR_INVALID);
    assert_non_null(strstr(last.error.message, "keys of 32 checks are too long"));
}

// One key is let grow until it no longer fits: nothing is ever cut on the way.
static void a_key_is_told_whole_or_not_at_all(void **state)
{
    (void)state;
    static crowd c;
    fill_crowd(&c);
    const weir_headers_options options = {.partition_key = true};
    size_t fitted = 0;
    for (size_t size = 1; size <= sizeof c.key; size++) {
        c.checks[0].key_size = size;
        const weir_status status =
            weir_headers_init(&last.headers, &c.rows[0], c.checks, NULL, 1, &options, &last.error);
        if (status != WEIR_OK) {
            assert_int_equal(status, WEIR_INVALID);
            assert_true(fitted > 12000);
            return;
        }
        fitted = size;
        const weir_header *header = &last.headers.list[last.headers.count - 1];
        const char *key = strstr(header->value, ";pk=:");
        assert_int_equal(strlen(key), 5 + (size + 2) / 3 * 4 + 1);
        assert_int_equal(strlen(header->value), header->value_size);
    }
    fail_msg("a key of 20000 bytes fits");
}

typedef struct refusal {
    weir_decision decision;
    weir_headers_options options;
    const char *says;
} refusal;

static void what_is_no_answer_is_refused_by_name(void **state)
{
    (void)state;
    const weir_limit limit =
        NAMED(.name = "day", .algorithm = WEIR_FIXED_WINDOW, .limit = 9, .window_us = WEIR_DAY);
    const weir_check check = check_of(&limit, "bob", 1);
    const char *const empty[] = {""}, *const wide[] = {"caf\xc3\xa9"};
    const char *const sixty_five[] = {
        "12345678901234567890123456789012345678901234567890123456789012345"};
    const refusal cases[] = {
        {{.limit = 8}, {.form = 0}, "\"day\" has the limit 8; it must be 9"},
        {{.limit = 9, .remaining = -1}, {.form = 0}, "remaining of limit \"day\" was -1"},
        {{.limit = 9, .remaining = 10}, {.form = 0}, "it must be from 0 to 9"},
        {{.limit = 9, .retry_after_us = -2}, {.form = 0}, "retry_after_us was -2"},
        {{.limit = 9, .retry_after_us = (INT64_C(1) << 60) + 1}, {.form = 0}, "to 2^60"},
        {{.limit = 9, .reset_after_us = -1}, {.form = 0}, "reset_after_us of limit \"day\" was -1"},
        {{.limit = 9, .reset_after_us = (INT64_C(1) << 60) + 1}, {.form = 0}, "to 2^60"},
        {{.limit = 9, .status = WEIR_FULL}, {.form = 0}, "status WEIR_FULL"},
        {{.limit = 9, .binding = 1}, {.form = 0}, "binding was 1"},
        {{.limit = 9}, {.form = (weir_headers_form)6}, "form was 6"},
        {{.limit = 9}, {.form = (weir_headers_form)-1}, "form was -1"},
        {{.limit = 9}, {.form = WEIR_HEADERS_X_EPOCH}, "now_us was 0"},
        {{.limit = 9}, {.form = WEIR_HEADERS_X_EPOCH, .now_us = WEIR_NOW_MAX + 1}, "now_us was"},
        {{.limit = 9}, {.units = empty}, "unit of limit \"day\" was \"\""},
        {{.limit = 9}, {.units = wide}, "unit of limit \"day\" was \"caf??\""},
        {{.limit = 9}, {.units = sixty_five}, "1 to 64 printable"},
        {{.limit = 9}, {.reserved = {0, 0, 0, 1}}, "reserved"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(weir_headers_init(&last.headers, &cases[i].decision, &check, NULL, 1,
                                           &cases[i].options, &last.error),
                         WEIR_INVALID);
        if (strstr(last.error.message, cases[i].says) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", last.error.message, cases[i].says);
        }
    }
}

static void assert_invalid(const weir_decision *decision, const weir_check *checks,
                           const weir_decision *rows, size_t count, const char *says)
{
    const weir_headers_options options = {.partition_key = true};
    assert_int_equal(
        weir_headers_init(&last.headers, decision, checks, rows, count, &options, &last.error),
        WEIR_INVALID);
    if (strstr(last.error.message, says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", last.error.message, says);
    }
}

static void what_is_missing_is_refused_by_name(void **state)
{
    (void)state;
    const weir_limit limit = NAMED(.name = "day", .algorithm = WEIR_MIN_GAP, .gap_us = 5);
    const weir_decision row = ALLOWED(.limit = 1);
    const weir_check checks[WEIR_CHECKS_MAX + 1] = {check_of(&limit, "bob", 1),
                                                    check_of(&limit, "", 1)};
    assert_invalid(NULL, checks, NULL, 1, "decision was NULL");
    assert_invalid(&row, NULL, NULL, 1, "checks was NULL");
    assert_invalid(&row, checks, NULL, 2, "rows was NULL");
    assert_invalid(&row, checks, &row, 33, "the number of checks was 33");
    assert_invalid(&row, checks + 1, NULL, 1, "the key of limit \"day\" was empty");
    assert_invalid(&row, checks + 2, NULL, 1, "a check has no limit");
    assert_int_equal(weir_headers_init(NULL, &row, checks, NULL, 1, NULL, NULL), WEIR_INVALID);
}

static void forms_have_names(void **state)
{
    (void)state;
    for (int i = WEIR_HEADERS_DRAFT_08; i <= WEIR_HEADERS_NONE; i++) {
        weir_headers_form form;
        assert_int_equal(
            weir_headers_form_parse(weir_headers_form_name((weir_headers_form)i), &form, NULL),
            WEIR_OK);
        assert_int_equal(form, i);
    }
    assert_null(weir_headers_form_name((weir_headers_form)6));
    assert_null(weir_headers_form_name((weir_headers_form)-1));
    weir_headers_form form;
    assert_int_equal(weir_headers_form_parse("draft_09", &form, &last.error), WEIR_INVALID);
    assert_non_null(strstr(last.error.message, "form was \"draft_09\"; it must be draft_08"));
    assert_int_equal(weir_headers_form_parse(NULL, &form, &last.error), WEIR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_rounded_up),
        cmocka_unit_test(an_epoch_is_the_instant_rounded_up),
        cmocka_unit_test(a_refusal_says_when_unless_no_wait_can_help),
        cmocka_unit_test(every_form_is_written_to_the_byte),
        cmocka_unit_test(a_form_without_a_time_leaves_it_out),
        cmocka_unit_test(the_window_is_when_the_quota_comes_back),
        cmocka_unit_test(a_decision_that_was_not_the_stores_tells_of_policies_alone),
        cmocka_unit_test(the_word_of_a_policy_has_no_wait_and_no_limits),
        cmocka_unit_test(several_limits_are_told_and_those_in_shadow_are_not),
        cmocka_unit_test(a_row_in_shadow_may_be_any),
        cmocka_unit_test(as_many_limits_as_there_may_be_fit),
        cmocka_unit_test(a_key_is_told_whole_or_not_at_all),
        cmocka_unit_test(what_is_no_answer_is_refused_by_name),
        cmocka_unit_test(what_is_missing_is_refused_by_name),
        cmocka_unit_test(forms_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
