// Formats are told, lines become fields, and a line that is no record says why.

#include "support.h"

#include <stdio.h>
#include <unistd.h>

#include "log/reader.h"

#define SMALL "spec/data/small/"

typedef struct fixture {
    log_lines lines;
    log_reader reader;
    weir_field fields[READER_FIELDS_MAX];
    size_t count;
    int64_t time_us;
} fixture;

static void open_log(fixture *f, const char *path, const char *time_name)
{
    char error[400];
    assert_true(lines_open(&f->lines, path));
    lines_load(&f->lines, NULL);
    if (!reader_open(&f->reader, &f->lines, time_name, error, sizeof error)) {
        fail_msg("%s: %s", path, error);
    }
}

static void close_log(fixture *f)
{
    reader_close(&f->reader);
    lines_close(&f->lines);
}

// The next line's mistake, or NULL when it is a record; both ways to read it must agree.
static const char *next(fixture *f)
{
    const char *line = NULL;
    size_t size = 0;
    do {
        assert_true(lines_next(&f->lines, &line, &size));
    } while (reader_passes_over(&f->reader, line, size));
    int64_t alone_us = 0;
    const char *wrong_alone = reader_time(&f->reader, line, size, &alone_us);
    const char *wrong = reader_read(&f->reader, line, size, &f->time_us, f->fields, &f->count);
    assert_true((wrong == NULL) == (wrong_alone == NULL));
    if (!wrong) {
        assert_int_equal(alone_us, f->time_us);
    }
    return wrong;
}

static void assert_field(const fixture *f, const char *name, const char *text)
{
    for (size_t i = 0; i < f->count; i++) {
        const weir_field *field = &f->fields[i];
        if (strcmp(field->name, name) != 0) {
            continue;
        }
        if (!text) {
            assert_null(field->text);
            return;
        }
        assert_non_null(field->text);
        assert_int_equal(field->text_size, strlen(text));
        assert_memory_equal(field->text, text, strlen(text));
        return;
    }
    fail_msg("there is no field %s", name);
}

static void assert_no_field(const fixture *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++) {
        assert_string_not_equal(f->fields[i].name, name);
    }
}

static void combined_lines_become_nine_fields(void **state)
{
    (void)state;
    fixture f;
    open_log(&f, SMALL "combined.log", NULL);
    assert_int_equal(f.reader.format, LOG_COMBINED);
    assert_null(next(&f));
    assert_int_equal(f.count, CLF_FIELDS);
    assert_int_equal(f.time_us, INT64_C(1715472001000000));
    assert_field(&f, "address", "192.0.2.1");
    assert_field(&f, "user", "alice");
    assert_field(&f, "method", "GET");
    assert_field(&f, "path", "/a?q=1");
    assert_field(&f, "protocol", "HTTP/1.1");
    assert_field(&f, "status", "200");
    assert_field(&f, "size", "512");
    assert_field(&f, "referrer", NULL);
    assert_field(&f, "agent", "curl/7.88.1");
    assert_no_field(&f, "time");
    assert_null(next(&f));
    assert_field(&f, "referrer", "https://example.org/");
    assert_null(next(&f));
    assert_field(&f, "user", NULL);
    assert_field(&f, "size", NULL);
    assert_field(&f, "agent", "a \\\"quoted\\\" agent");
    assert_null(next(&f));
    assert_field(&f, "address", "2001:db8::7");
    assert_field(&f, "method", NULL);
    assert_field(&f, "path", NULL);
    close_log(&f);
}

// A user's name comes from the client: what looks like a time in it is none.
static void a_user_cannot_forge_the_time(void **state)
{
    (void)state;
    fixture f;
    open_log(&f, SMALL "combined.log", NULL);
    for (int i = 0; i < 5; i++) {
        assert_null(next(&f));
    }
    assert_int_equal(f.time_us, INT64_C(1715472064000000));
    assert_field(&f, "user", "a name [01/Jan/2000:00:00:00 +0000]");
    close_log(&f);
}

static void common_lines_may_hold_raw_quotes(void **state)
{
    (void)state;
    fixture f;
    open_log(&f, SMALL "common.log", NULL);
    assert_int_equal(f.reader.format, LOG_COMMON);
    assert_null(next(&f));
    assert_int_equal(f.count, CLF_FIELDS - 2);
    assert_null(next(&f));
    assert_field(&f, "path", "/a \"raw\" quote");
    assert_null(next(&f));
    assert_field(&f, "method", "GET");
    assert_field(&f, "path", "/b");
    assert_field(&f, "protocol", NULL);
    close_log(&f);
}

static void json_members_become_text_fields(void **state)
{
    (void)state;
    fixture f;
    open_log(&f, SMALL "lines.jsonl", NULL);
    assert_int_equal(f.reader.format, LOG_JSON);
    assert_string_equal(f.reader.time_name, "ts");
    assert_null(next(&f));
    assert_int_equal(f.time_us, INT64_C(1715472001250000));
    assert_field(&f, "client", "192.0.2.1");
    assert_field(&f, "status", "200");
    assert_field(&f, "request.path", "/a");
    assert_field(&f, "cached", "true");
    assert_null(next(&f));
    assert_field(&f, "cached", NULL);
    assert_null(next(&f));
    assert_int_equal(f.time_us, INT64_C(1715472002000000));
    assert_field(&f, "tags", "[\"x\",\"y\"]");
    close_log(&f);
}

static void columns_become_fields(void **state)
{
    (void)state;
    fixture f;
    open_log(&f, SMALL "columns.tsv", NULL);
    assert_int_equal(f.reader.format, LOG_TSV);
    assert_string_equal(f.reader.time_name, "when");
    assert_null(next(&f));
    assert_int_equal(f.time_us, INT64_C(1715472001000250));
    assert_field(&f, "client", "192.0.2.1");
    assert_null(next(&f));
    assert_field(&f, "cost", NULL);
    close_log(&f);
}

static void the_time_field_can_be_named(void **state)
{
    (void)state;
    fixture f;
    char error[400];
    open_log(&f, SMALL "columns.tsv", "when");
    assert_null(next(&f));
    close_log(&f);

    assert_true(lines_open(&f.lines, SMALL "columns.tsv"));
    assert_false(reader_open(&f.reader, &f.lines, "stamp", error, sizeof error));
    assert_non_null(strstr(error, "there are when, client, cost"));
    close_log(&f);

    assert_true(lines_open(&f.lines, SMALL "combined.log"));
    assert_false(reader_open(&f.reader, &f.lines, "stamp", error, sizeof error));
    assert_non_null(strstr(error, "in brackets"));
    close_log(&f);
}

// Writes the text into a file, and opens that.
static void open_text(fixture *f, const char *text, const char *time_name)
{
    char path[] = "/tmp/weir-reader-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    open_log(f, path, time_name);
    unlink(path);
}

static void a_torn_line_says_where(void **state)
{
    (void)state;
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"x", "no quoted request"},
        {"\"GET / HTTP/1.1\" 200 1", "no [time]"},
        {"a [12/May/2024:00:00:01 +0000] \"GET /\" 200 1", "an identity"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /", "before the status"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\"", "before the status"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\" ", "before the status"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\" 20", "before the status"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\" 200 ", "before the size"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\" 200 1", "before the referrer"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\" 200 1 \"-", "before the referrer"},
        {"a - - [12/May/2024:00:00:01 +0000] \"GET /\" 200 1 \"-\" \"curl", "before the agent"},
        {"a - - [12/May/2024:00:00:61 +0000] \"GET /\" 200 1 \"-\" \"-\"", "out of range"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        fixture f;
        snprintf(text, sizeof text,
                 "b - - [12/May/2024:00:00:01 +0000] \"GET /\" 200 1 \"-\" \"-\"\r\n%s\n",
                 cases[i].line);
        open_text(&f, text, NULL);
        assert_null(next(&f));
        const char *why = next(&f);
        if (!why || !strstr(why, cases[i].why)) {
            fail_msg("%s: %s", cases[i].line, why ? why : "was taken");
        }
        close_log(&f);
    }
}

static void other_lines_say_what_is_wrong_too(void **state)
{
    (void)state;
    fixture f;
    open_text(&f, "{\"ts\":1715472001}\n{\"ts\":17154\n[1]\n{\"x\":1}\n{\"ts\":null}\n", NULL);
    assert_null(next(&f));
    assert_non_null(strstr(next(&f), "not whole JSON"));
    assert_non_null(strstr(next(&f), "not an object"));
    assert_non_null(strstr(next(&f), "time is missing"));
    assert_non_null(strstr(next(&f), "time is missing"));
    close_log(&f);

    open_text(&f, "ts\tclient\n1715472001\ta\n# a remark\n1715472001\n1715472001\ta\tb\n\ta\n",
              NULL);
    assert_null(next(&f));
    assert_non_null(strstr(next(&f), "fewer columns"));
    assert_non_null(strstr(next(&f), "more columns"));
    assert_non_null(strstr(next(&f), "time is missing"));
    close_log(&f);
}

static void a_zeek_header_is_a_header(void **state)
{
    (void)state;
    fixture f;
    open_text(&f,
              "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n"
              "#path\tssl\n#open\t2018-03-24-17-15-20\n#fields\tts\tid.orig_h\n"
              "#types\ttime\taddr\n1521911720.615923\t192.0.2.1\n",
              NULL);
    assert_null(next(&f));
    assert_field(&f, "id.orig_h", "192.0.2.1");
    assert_int_equal(f.time_us, INT64_C(1521911720615923));
    close_log(&f);
}

// 250 numbers under a name of 400 bytes are more text than a line may make.
static void text_that_has_no_room_is_left_out(void **state)
{
    (void)state;
    static char text[16384], name[401];
    memset(name, 'n', sizeof name - 1);
    int size = snprintf(text, sizeof text, "{\"ts\":1715472001,\"a\":\"b\",\"%s\":{", name);
    for (int i = 0; i < 250; i++) {
        size +=
            snprintf(text + size, sizeof text - (size_t)size, "%s\"%d\":%d", i ? "," : "", i, i);
    }
    snprintf(text + size, sizeof text - (size_t)size, "}}\n");
    fixture f;
    open_text(&f, text, NULL);
    assert_null(next(&f));
    assert_field(&f, "a", "b");
    assert_in_range(f.count, 100, 200);
    close_log(&f);
}

// How long a request took is a number too, and no time of day.
static void a_duration_is_not_taken_for_the_time(void **state)
{
    (void)state;
    fixture f;
    open_text(&f, "{\"time\":0.25,\"ts\":1715472001}\n", NULL);
    assert_string_equal(f.reader.time_name, "ts");
    close_log(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combined_lines_become_nine_fields),
        cmocka_unit_test(a_user_cannot_forge_the_time),
        cmocka_unit_test(common_lines_may_hold_raw_quotes),
        cmocka_unit_test(json_members_become_text_fields),
        cmocka_unit_test(columns_become_fields),
        cmocka_unit_test(the_time_field_can_be_named),
        cmocka_unit_test(a_torn_line_says_where),
        cmocka_unit_test(other_lines_say_what_is_wrong_too),
        cmocka_unit_test(a_zeek_header_is_a_header),
        cmocka_unit_test(text_that_has_no_room_is_left_out),
        cmocka_unit_test(a_duration_is_not_taken_for_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
