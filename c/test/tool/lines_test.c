// The same lines come out of a plain file, of gzip and of a pipe.

#include "support.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "log/lines.h"

#define LINES 40000 // several buffers full

static char plain[] = "/tmp/weir-lines-XXXXXX", packed[] = "/tmp/weir-lines-gz-XXXXXX";

static size_t line_text(size_t number, char *out, size_t size)
{
    return (size_t)snprintf(out, size, "line %zu %.*s", number, (int)(number % 60),
                            "............................................................");
}

static int write_files(void **state)
{
    (void)state;
    int fd = mkstemp(plain), packed_fd = mkstemp(packed);
    FILE *to = fdopen(fd, "w");
    gzFile gz = gzdopen(packed_fd, "w");
    for (size_t i = 0; i < LINES; i++) {
        char text[100];
        line_text(i, text, sizeof text);
        fprintf(to, "%s%s", text, i % 2 ? "\n" : "\r\n");
        gzprintf(gz, "%s%s", text, i % 2 ? "\n" : "\r\n");
        if (i == LINES / 2) { // a second member, as after cat a.gz b.gz
            gzclose(gz);
            gz = gzopen(packed, "a");
        }
    }
    fprintf(to, "the last has no end");
    gzprintf(gz, "the last has no end");
    return fclose(to) == 0 && gzclose(gz) == Z_OK ? 0 : -1;
}

static int remove_files(void **state)
{
    (void)state;
    return unlink(plain) == 0 && unlink(packed) == 0 ? 0 : -1;
}

static void assert_lines(log_lines *lines)
{
    const char *line;
    size_t size;
    for (size_t i = 0; i < LINES; i++) {
        char text[100];
        size_t expected = line_text(i, text, sizeof text);
        assert_true(lines_next(lines, &line, &size));
        assert_int_equal(size, expected);
        assert_memory_equal(line, text, size);
        assert_int_equal(lines->line, i + 1);
    }
    assert_true(lines_next(lines, &line, &size));
    assert_int_equal(size, strlen("the last has no end"));
    assert_false(lines_next(lines, &line, &size));
    assert_string_equal(lines->error, "");
}

static void a_plain_file(void **state)
{
    (void)state;
    log_lines lines;
    assert_true(lines_open(&lines, plain));
    assert_false(lines.compressed);
    assert_lines(&lines);
    lines_close(&lines);
}

static void gzip_streamed_and_loaded(void **state)
{
    (void)state;
    for (int load = 0; load < 2; load++) {
        log_lines lines;
        assert_true(lines_open(&lines, packed));
        assert_true(lines.compressed);
        if (load) {
            lines_load(&lines, NULL);
        }
        assert_lines(&lines);
        lines_close(&lines);
    }
}

static void a_pipe(void **state)
{
    (void)state;
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execlp("cat", "cat", packed, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    log_lines lines;
    assert_true(lines_open(&lines, "-"));
    assert_lines(&lines);
    lines_close(&lines);
    dup2(saved, STDIN_FILENO);
    close(ends[0]);
    close(saved);
}

static void a_stream_that_is_cut_gives_what_was_there(void **state)
{
    (void)state;
    assert_int_equal(truncate(packed, 20000), 0);
    log_lines lines;
    assert_true(lines_open(&lines, packed));
    lines_load(&lines, NULL);
    assert_string_equal(lines.error, "the gzip stream ends in the middle");
    const char *line;
    size_t size, count = 0;
    while (lines_next(&lines, &line, &size)) {
        count++;
    }
    assert_in_range(count, 100, LINES);
    lines_close(&lines);
}

static void what_is_no_file_says_so(void **state)
{
    (void)state;
    log_lines lines;
    assert_false(lines_open(&lines, "/nowhere/access.log"));
    assert_string_equal(lines.error, "No such file or directory");
    lines_close(&lines);
    assert_false(lines_open(&lines, "/tmp"));
    assert_string_equal(lines.error, "it is a directory");
    lines_close(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file),
        cmocka_unit_test(gzip_streamed_and_loaded),
        cmocka_unit_test(a_pipe),
        cmocka_unit_test(a_stream_that_is_cut_gives_what_was_there),
        cmocka_unit_test(what_is_no_file_says_so),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
