// What headers say can be read: on what a store answers to random limits with hostile names it says
// the same again, and numbers from nowhere are refused or told soundly.

#include <stdio.h>

#include "random_limit.h"

static weir_headers headers;

static const char *value_of(const char *name)
{
    for (size_t i = 0; i < headers.count; i++) {
        if (strcmp(headers.list[i].name, name) == 0) {
            return headers.list[i].value;
        }
    }
    return NULL;
}

// WEIR_SEED, for soaks: another run of random sequences.
static uint64_t seed(uint64_t number)
{
    const char *text = getenv("WEIR_SEED");
    return number + 1000 * (text != NULL ? strtoull(text, NULL, 10) : 0);
}

// A reader of its own, so that what is written must follow the grammar and not just the writer.
static int64_t read_integer(const char **at)
{
    const char *start = *at;
    int64_t value = 0;
    while (**at >= '0' && **at <= '9' && *at - start < 15) {
        value = value * 10 + (*(*at)++ - '0');
    }
    assert_true(*at > start);
    assert_true(*start != '0' || *at - start == 1);
    return value;
}

static void read_literal(const char **at, const char *literal)
{
    assert_memory_equal(*at, literal, strlen(literal));
    *at += strlen(literal);
}

static void read_string(const char **at, const char *expected)
{
    read_literal(at, "\"");
    for (; **at != '"'; (*at)++) {
        if (**at == '\\') {
            (*at)++;
            assert_true(**at == '"' || **at == '\\');
        }
        assert_int_equal(**at, *expected++);
    }
    assert_int_equal(*expected, '\0');
    (*at)++;
}

static bool read_parameter(const char **at, const char *name, int64_t *out)
{
    if (strncmp(*at, name, strlen(name)) != 0) {
        return false;
    }
    *at += strlen(name);
    *out = read_integer(at);
    return true;
}

static void read_policy(const char **at, const weir_limit *limit)
{
    int64_t q, w = 0;
    read_string(at, limit->name);
    assert_true(read_parameter(at, ";q=", &q));
    assert_int_equal(q, limit->most);
    if (limit->algorithm == WEIR_CONCURRENCY) {
        read_literal(at, ";qu=\"concurrent-requests\"");
    }
    const bool has_window = limit->algorithm != WEIR_CONCURRENCY && limit->span_us >= WEIR_SECOND;
    assert_int_equal(read_parameter(at, ";w=", &w), has_window);
    if (has_window) {
        assert_true(w * WEIR_SECOND >= limit->span_us && (w - 1) * WEIR_SECOND < limit->span_us);
    }
}

// Gives t, or -1 when there is none.
static int64_t read_service_limit(const char **at, const weir_limit *limit,
                                  const weir_decision *row)
{
    int64_t r, t = -1;
    read_string(at, limit->name);
    assert_true(read_parameter(at, ";r=", &r));
    assert_int_equal(r, row->remaining);
    read_parameter(at, ";t=", &t);
    return t;
}

static void assert_sound(void)
{
    const weir_headers *h = &headers;
    assert_in_range(h->count, 0, WEIR_HEADERS_MAX);
    for (size_t i = 0; i < h->count; i++) {
        const weir_header *header = &h->list[i];
        assert_true(header->value >= h->text &&
                    header->value + header->value_size < h->text + sizeof h->text);
        assert_true(header->value_size > 0);
        assert_int_equal(strlen(header->value), header->value_size);
        for (const char *c = header->value; *c != '\0'; c++) {
            assert_true(*c >= ' ' && *c <= '~');
        }
    }
}

static void assert_reads_back(const weir_decision *joint, const weir_check *checks,
                              const weir_decision *rows, size_t count)
{
    const char *policies = value_of("RateLimit-Policy");
    const char *limits = value_of("RateLimit");
    const char *retry = value_of("Retry-After");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            read_literal(&policies, ", ");
            read_literal(&limits, ", ");
        }
        read_policy(&policies, checks[i].limit);
        const int64_t t = read_service_limit(&limits, checks[i].limit, &rows[i]);
        if (joint->allowed) {
            assert_true(t * WEIR_SECOND >= rows[i].reset_after_us);
            continue;
        }
        if (i == joint->binding && joint->retry_after_us != WEIR_NEVER) {
            assert_int_equal(read_integer(&retry), t);
            assert_int_equal(*retry, '\0');
            assert_true(t >= 1 && t * WEIR_SECOND >= joint->retry_after_us &&
                        (t - 1) * WEIR_SECOND < joint->retry_after_us);
        }
    }
    assert_int_equal(*policies, '\0');
    assert_int_equal(*limits, '\0');
    if (joint->allowed || joint->retry_after_us == WEIR_NEVER) {
        assert_null(value_of("Retry-After"));
    }
}

static void random_name(uint64_t *random, size_t place, char out[WEIR_NAME_MAX + 1])
{
    const size_t size = (size_t)test_between(random, 1, WEIR_NAME_MAX - 2);
    for (size_t i = 0; i < size; i++) {
        out[i] = test_random(random) % 3 == 0 ? "\"\\"[test_random(random) % 2]
                                              : (char)test_between(random, ' ', '~');
    }
    snprintf(out + size, 3, "%02zu", place); // so no two are alike
}

static void what_a_store_answers_reads_back(void **state)
{
    (void)state;
    uint64_t random = seed(7);
    weir_store *store = test_store(NULL);
    for (int round = 0; round < 400; round++) {
        weir_limit limits[5];
        weir_check checks[5];
        weir_decision rows[5];
        const size_t count = (size_t)test_between(&random, 1, 5);
        for (size_t i = 0; i < count; i++) {
            char name[WEIR_NAME_MAX + 1];
            weir_limit_options o =
                random_options((weir_algorithm)test_between(&random, 1, 7), &random);
            random_name(&random, i, name);
            o.name = name;
            limits[i] = test_limit(&o);
        }
        int64_t now_us = NOW;
        for (int event = 0; event < 20; event++) {
            for (size_t i = 0; i < count; i++) {
                checks[i] = check_of(&limits[i], "bob", test_between(&random, 0, 4));
            }
            weir_decision joint;
            now_us += random_step(&limits[0], &random);
            now_us = now_us < NOW ? NOW : now_us;
            assert_int_equal(weir_store_take_all(store, checks, count, now_us, &joint, rows, NULL),
                             WEIR_OK);
            assert_int_equal(weir_headers_init(&headers, &joint, checks, rows, count, NULL, NULL),
                             WEIR_OK);
            assert_sound();
            assert_reads_back(&joint, checks, rows, count);
        }
    }
    weir_store_close(store);
}

// Mostly such as a store could answer.
static int64_t any_number(uint64_t *random)
{
    switch (test_random(random) % 8) {
    case 0:
        return (int64_t)test_random(random);
    case 1:
        return test_random(random) % 2 ? INT64_MAX : INT64_MIN;
    case 2:
        return test_between(random, -2, 2);
    case 3:
        return test_between(random, 0, INT64_C(1) << 60);
    default:
        return test_between(random, 0, WEIR_COST_MAX);
    }
}

// A minus sign never comes out.
static void any_numbers_are_refused_or_told_soundly(void **state)
{
    (void)state;
    uint64_t random = seed(11);
    int told = 0;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 7, .period_us = 64, .burst = WEIR_COST_MAX);
    const weir_check check = check_of(&limit, "bob", 1);
    for (int round = 0; round < 200000; round++) {
        const weir_decision d = {.allowed = test_random(&random) % 2,
                                 .limit =
                                     test_random(&random) % 8 ? WEIR_COST_MAX : any_number(&random),
                                 .remaining = any_number(&random),
                                 .retry_after_us = any_number(&random),
                                 .reset_after_us = any_number(&random),
                                 .source = (weir_source)(test_random(&random) % 3)};
        const weir_headers_options options = {.form = (weir_headers_form)(test_random(&random) % 7),
                                              .now_us = any_number(&random)};
        if (weir_headers_init(&headers, &d, &check, NULL, 1, &options, NULL) != WEIR_OK) {
            continue;
        }
        told++;
        assert_sound();
        for (size_t i = 0; i < headers.count; i++) {
            const char *minus = strchr(headers.list[i].value, '-');
            assert_true(minus == NULL || strcmp(headers.list[i].value, "no-store") == 0);
        }
    }
    assert_true(told > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_store_answers_reads_back),
        cmocka_unit_test(any_numbers_are_refused_or_told_soundly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
