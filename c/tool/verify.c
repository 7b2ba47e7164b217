// weir verify: runs vector files on a store and compares every row.

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <weir/memory.h>

#include "command.h"
#include "log/lines.h"
#include "store/apart.h"
#include "store/open.h"
#include "vectors/sequence.h"

#define STORE_BYTES ((size_t)128 << 20)

#define OPTIONS(X)                                                                                 \
    X(STORE, "store", "URL", "on a Redis store, under keys of this run; else in memory")           \
    X(JSON, "json", NULL, "the counts and the first wrong row as JSON")

enum {
#define OPTION_CODE(code, name, argument, help) OPTION_##code,
    OPTIONS(OPTION_CODE)
#undef OPTION_CODE
};
static const option_spec specs[] = {
#define OPTION_SPEC(code, name, argument, help) {name, argument, help},
    OPTIONS(OPTION_SPEC)
#undef OPTION_SPEC
};
#define SPECS (sizeof specs / sizeof *specs)

static const char details[] =
    "Each line of a file is a sequence of events on a fresh key, with the right answers; the "
    "format\n"
    "is at the end of SEMANTICS.md. Every row must be equal in all six numbers. Exits with 1 when\n"
    "one is wrong, and shows the first.\n";

typedef struct verify_totals {
    size_t sequences, rows, wrong;
    bool unreadable;
    bool away;              // the server gives no answers
    const char *wrong_path; // of the first wrong row
    uint64_t wrong_line;
    sequence_result first;
} verify_totals;

static void verify_file(const char *path, weir_store *store, verify_totals *totals)
{
    log_lines lines;
    if (!lines_open(&lines, path)) {
        complain("verify: %s: %s", path, lines.error);
        totals->unreadable = true;
        lines_close(&lines);
        return;
    }
    const char *line;
    size_t size, before = totals->sequences;
    while (lines_next(&lines, &line, &size)) {
        if (size == 0) {
            continue;
        }
        char key[48];
        snprintf(key, sizeof key, "sequence-%zu", ++totals->sequences);
        sequence_result result;
        weir_error error = {0};
        weir_status status = sequence_run(line, size, store, key, &result, &error);
        if (status != WEIR_OK) {
            complain("verify: %s line %" PRIu64 ": %s", path, lines.line, error.message);
            totals->unreadable = true;
            totals->away = store_is_away(status);
            if (totals->away) {
                break;
            }
            continue;
        }
        if (result.wrong > 0 && totals->wrong == 0) {
            totals->wrong_path = path;
            totals->wrong_line = lines.line;
            totals->first = result;
        }
        totals->rows += result.rows;
        totals->wrong += result.wrong;
    }
    if (lines.error[0] || totals->sequences == before) {
        complain("verify: %s: %s", path, lines.error[0] ? lines.error : "it holds no sequence");
        totals->unreadable = true;
    }
    lines_close(&lines);
}

static void print_wrong(const verify_totals *t)
{
    printf("first wrong: %s line %" PRIu64 ", event %zu, check %zu (each counted from 0)\n"
           "  event     %s\n"
           "  expected  %s\n"
           "  got       %s\n",
           t->wrong_path, t->wrong_line, t->first.first_event, t->first.first_check, t->first.event,
           t->first.expected, t->first.got);
}

static void print_json(const verify_totals *t)
{
    json_t *whole = json_pack("{s:I, s:I, s:I}", "sequences", (json_int_t)t->sequences, "rows",
                              (json_int_t)t->rows, "wrong", (json_int_t)t->wrong);
    if (t->wrong > 0) {
        json_object_set_new(whole, "first_wrong",
                            json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s}", "file", t->wrong_path,
                                      "line", (json_int_t)t->wrong_line, "event_index",
                                      (json_int_t)t->first.first_event, "check_index",
                                      (json_int_t)t->first.first_check, "event", t->first.event,
                                      "expected", t->first.expected, "got", t->first.got));
    }
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
}

int command_verify(int argc, char **argv)
{
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    bool json = false;
    const char *url = NULL, *value;
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        json |= code == OPTION_JSON;
        url = code == OPTION_STORE ? value : url;
    }
    if (code == OPTIONS_HELP) {
        command_help("verify", details, specs, SPECS);
        return EXIT_FINE;
    }
    if (code == OPTIONS_WRONG) {
        return EXIT_MISUSE;
    }
    if (reader.words == 0) {
        complain("verify: a vector file must be given; weir verify --help says more");
        return EXIT_MISUSE;
    }

    weir_store *store;
    weir_error error = {0};
    const weir_memory_options options = {.size_bytes = STORE_BYTES};
    weir_status opened = url ? store_open_apart(url, "verify", &store, &error)
                             : weir_memory_open(&store, &options, &error);
    if (opened != WEIR_OK) {
        complain("verify: %s", error.message);
        return EXIT_MISUSE;
    }
    verify_totals totals = {0};
    for (int i = 1; i <= reader.words && !totals.away; i++) {
        verify_file(argv[i], store, &totals);
    }
    if (url) {
        store_apart_clear(store);
    }
    weir_store_close(store);

    if (json) {
        print_json(&totals);
    } else {
        printf("%zu sequences, %zu rows, %zu wrong\n", totals.sequences, totals.rows, totals.wrong);
    }
    if (!json && totals.wrong > 0) {
        print_wrong(&totals);
    }
    return totals.unreadable ? EXIT_MISUSE : totals.wrong > 0 ? EXIT_REFUSED : EXIT_FINE;
}
