// Logs broken at random places, by a fixed seed: whatever a log holds, reading it ends, stays
// within the line, and gives fields that lie where they may.

#include "support.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log/reader.h"

#define ROUNDS   3000
#define TEXT_MAX 4096

static const char *const seeds[] = {
    "spec/data/small/combined.log", "spec/data/small/common.log", "spec/data/small/lines.jsonl",
    "spec/data/small/columns.tsv",  "spec/data/small/torn.log",
};

static size_t read_seed(const char *path, char *out)
{
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    size_t size = fread(out, 1, TEXT_MAX / 2, from);
    fclose(from);
    return size;
}

// Changes a byte, cuts, doubles a part, or puts a byte of meaning somewhere.
static size_t break_text(char *text, size_t size, uint64_t *random)
{
    static const char meaning[] = "\"[]\\ \t\n\r{}:,#-+.0\x00\xff\x1f\x8b/";
    size_t at = size ? (size_t)test_between(random, 0, (int64_t)size - 1) : 0;
    switch (size ? test_random(random) % 5 : 4) {
    case 0:
        text[at] = (char)test_random(random);
        return size;
    case 1:
        text[at] = meaning[test_random(random) % (sizeof meaning - 1)];
        return size;
    case 2:
        return at;
    case 3: {
        size_t part = (size - at) / 2;
        if (size + part > TEXT_MAX) {
            return size;
        }
        memmove(text + at + part, text + at, size - at);
        return size + part;
    }
    default:
        if (size == TEXT_MAX) {
            return size;
        }
        memmove(text + at + 1, text + at, size - at);
        text[at] = meaning[test_random(random) % (sizeof meaning - 1)];
        return size + 1;
    }
}

// Touches every byte that a policy could read.
static unsigned touch(const weir_field *fields, size_t count)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (unsigned)strlen(fields[i].name);
        for (size_t at = 0; fields[i].text && at < fields[i].text_size; at++) {
            sum += (unsigned char)fields[i].text[at];
        }
    }
    return sum;
}

static unsigned read_all(const char *path)
{
    log_lines lines;
    log_reader reader = {0};
    char error[400];
    unsigned sum = 0;
    if (lines_open(&lines, path) && reader_open(&reader, &lines, NULL, error, sizeof error)) {
        const char *line;
        size_t size;
        while (lines_next(&lines, &line, &size)) {
            // Exactly as long as the line, so that a byte beyond it is seen by the sanitizer.
            char *copy = malloc(size ? size : 1);
            weir_field fields[READER_FIELDS_MAX];
            size_t count = 0;
            int64_t time_us, alone_us;
            memcpy(copy, line, size);
            if (!reader_passes_over(&reader, copy, size)) {
                bool good = !reader_read(&reader, copy, size, &time_us, fields, &count);
                sum += good ? touch(fields, count) : 0;
                assert_true(good == !reader_time(&reader, copy, size, &alone_us));
                sum += good ? touch(fields, reader_fields(&reader, copy, size, fields)) : 0;
            }
            free(copy);
        }
    }
    reader_close(&reader);
    lines_close(&lines);
    return sum;
}

static void broken_logs_are_read_to_their_end(void **state)
{
    (void)state;
    static char text[TEXT_MAX];
    char path[32];
    int fd = memfd_create("fuzz", 0);
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    unsigned sum = 0;
    for (size_t seed = 0; seed < sizeof seeds / sizeof *seeds; seed++) {
        uint64_t random = seed + 1;
        for (int round = 0; round < ROUNDS; round++) {
            size_t size = read_seed(seeds[seed], text);
            for (int64_t i = test_between(&random, 1, 8); i > 0; i--) {
                size = break_text(text, size, &random);
            }
            assert_int_equal(ftruncate(fd, 0), 0);
            assert_int_equal(pwrite(fd, text, size, 0), size);
            sum += read_all(path);
        }
    }
    close(fd);
    assert_int_not_equal(sum, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_logs_are_read_to_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
