// report: the tables that people read.

#include "replay/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/duration.h>

#include "table.h"
#include "text.h"

#define KEY_WIDTH 48

static void print_log(const log_file *file)
{
    char path[300], kinds[200] = "";
    text_escape(file->path, strlen(file->path), path, sizeof path);
    if (!file->told) {
        printf("log        %s: not read: %s\n", path, file->error);
        return;
    }
    for (int kind = 0; kind < STAMP_KINDS; kind++) {
        if (file->reader.stamps.kinds & 1U << kind) {
            size_t used = strlen(kinds);
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "",
                     stamp_kind_name((stamp_kind)kind));
        }
    }
    char name[80], count[TEXT_COUNT];
    bool bracketed = file->reader.format == LOG_COMBINED || file->reader.format == LOG_COMMON;
    const char *time_name = bracketed ? "the brackets" : file->reader.time_name;
    text_escape(time_name, strlen(time_name), name, sizeof name);
    printf("log        %s: %s%s, %s records; time from %s, as %s\n", path,
           reader_format_name(file->reader.format), file->lines.compressed ? " in gzip" : "",
           text_count(file->records, count), name, kinds[0] ? kinds : "no record had it");
}

static void print_span(const input *in)
{
    char first[STAMP_ISO_TEXT], last[STAMP_ISO_TEXT], span[TEXT_SPAN], step[WEIR_DURATION_TEXT];
    printf("time       %s to %s, %s; stamps step by %s\n", stamp_format(in->first_us, first),
           stamp_format(in->last_us, last), text_span(in->last_us - in->first_us, span),
           weir_duration_format(stamp_step_us(&in->step), step));
}

static void total_row(table *t, const char *name, uint64_t part, uint64_t whole)
{
    char count[TEXT_COUNT], percent[TEXT_PERCENT];
    table_cell(t, name);
    table_cell(t, text_count(part, count));
    table_cell(t, whole ? text_percent(part, whole, percent) : "");
}

static void print_totals(const replay_totals *totals)
{
    table t;
    table_open(&t, "lrr");
    total_row(&t, "requests", totals->requests, 0);
    total_row(&t, "allowed", totals->allowed, totals->requests);
    total_row(&t, "refused", totals->refused, totals->requests);
    if (totals->refused_by_policy > 0) {
        total_row(&t, "  by policy", totals->refused_by_policy, totals->requests);
    }
    if (totals->failed > 0) {
        total_row(&t, "no answer", totals->failed, totals->requests);
    }
    table_print(&t);
}

static void head(table *t, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        table_cell(t, names[i]);
    }
}

static void print_limits(const replay_report *report)
{
    static const char *const names[] = {
        "limit", "algorithm",    "window",           "asked", "refused", "",
        "keys",  "keys refused", "most in a window", NULL};
    table t;
    table_open(&t, "llrrrrrrr");
    head(&t, names);
    for (size_t i = 0; i < report->counts->limit_count; i++) {
        const tally_limit *limit = &report->counts->limits[i];
        char name[WEIR_NAME_MAX + 16], text[WEIR_DURATION_TEXT], count[TEXT_COUNT],
            percent[TEXT_PERCENT];
        snprintf(name, sizeof name, "%s%s", limit->limit.name, limit->shadow ? " (shadow)" : "");
        table_cell(&t, name);
        table_cell(&t, weir_algorithm_name(limit->limit.algorithm));
        table_cell(&t, weir_duration_format(limit->limit.window_us, text));
        table_cell(&t, text_count(limit->asked, count));
        table_cell(&t, text_count(limit->refused, count));
        table_cell(&t, text_percent(limit->refused, limit->asked, percent));
        table_cell(&t, text_count(limit->keys, count));
        table_cell(&t, text_count(limit->keys_refused, count));
        table_cell(&t, text_count(limit->peak, count));
    }
    table_print(&t);
}

static void print_top(const replay_report *report)
{
    static const char *const names[] = {"refused most",     "limit", "refused", "first refusal",
                                        "most in a window", NULL};
    tally_top *top = calloc(report->top + 1, sizeof *top);
    size_t count = top ? tally_most_refused(report->counts, top, report->top) : 0;
    if (count > 0) {
        putchar('\n');
    }
    table t;
    table_open(&t, "llrlr");
    if (count > 0) {
        head(&t, names);
    }
    for (size_t i = 0; i < count; i++) {
        char key[KEY_WIDTH], text[TEXT_COUNT], stamp[STAMP_ISO_TEXT];
        table_cell(&t, text_escape(top[i].key, top[i].key_size, key, sizeof key));
        table_cell(&t, report->counts->limits[top[i].limit].limit.name);
        table_cell(&t, text_count(top[i].refused, text));
        table_cell(&t, stamp_format(top[i].first_us, stamp));
        table_cell(&t, text_count(top[i].peak, text));
    }
    table_print(&t);
    free(top);
}

static void print_warning(void *context, const char *kind, const char *text)
{
    bool *any = context;
    (void)kind;
    printf("%snote: %s\n", *any ? "" : "\n", text);
    *any = true;
}

void report_print(const replay_report *report)
{
    printf("policy     %s\n", report->policy);
    for (size_t i = 0; i < report->in->count; i++) {
        print_log(&report->in->files[i]);
    }
    if (report->totals->requests > 0) {
        print_span(report->in);
        putchar('\n');
        print_totals(report->totals);
    }
    if (report->counts->limit_count > 0 && report->totals->requests > 0) {
        putchar('\n');
        print_limits(report);
        print_top(report);
    }
    bool any = false;
    report_warnings(report, print_warning, &any);
}
