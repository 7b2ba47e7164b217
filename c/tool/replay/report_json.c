// report_json: the same report as one JSON object. Times are microseconds since 1970.

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/report.h"
#include "text.h"

static json_t *count_of(uint64_t count)
{
    return json_integer((json_int_t)count);
}

// Text of any bytes as printable ASCII, since JSON has no bytes.
static json_t *text_of(const void *bytes, size_t size)
{
    char *text = malloc(4 * size + 1);
    json_t *value = text ? json_string(text_escape(bytes, size, text, 4 * size + 1)) : NULL;
    free(text);
    return value;
}

static json_t *log_of(const log_file *file)
{
    json_t *kinds = json_array();
    for (int kind = 0; kind < STAMP_KINDS; kind++) {
        if (file->reader.stamps.kinds & 1U << kind) {
            json_array_append_new(kinds, json_string(stamp_kind_name((stamp_kind)kind)));
        }
    }
    json_t *log = json_object();
    json_object_set_new(log, "path", text_of(file->path, strlen(file->path)));
    json_object_set_new(log, "format",
                        file->told ? json_string(reader_format_name(file->reader.format))
                                   : json_null());
    json_object_set_new(log, "gzip", json_boolean(file->lines.compressed));
    json_object_set_new(log, "time_field",
                        file->told ? text_of(file->reader.time_name, strlen(file->reader.time_name))
                                   : json_null());
    json_object_set_new(log, "time_format", kinds);
    json_object_set_new(log, "records", count_of(file->records));
    json_object_set_new(log, "skipped", count_of(file->skipped));
    if (file->skipped > 0) {
        json_object_set_new(log, "skipped_line", count_of(file->skipped_line));
        json_object_set_new(log, "skipped_reason", json_string(file->skipped_reason));
    }
    json_object_set_new(log, "backwards", count_of(file->backwards));
    if (file->error[0]) {
        json_object_set_new(log, "error", text_of(file->error, strlen(file->error)));
    }
    return log;
}

static json_t *limit_of(const tally_limit *limit)
{
    return json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "name", limit->limit.name,
                     "algorithm", weir_algorithm_name(limit->limit.algorithm), "shadow",
                     limit->shadow, "window_us", (json_int_t)limit->limit.window_us, "asked",
                     (json_int_t)limit->asked, "refused", (json_int_t)limit->refused, "keys",
                     (json_int_t)limit->keys, "keys_refused", (json_int_t)limit->keys_refused,
                     "most_in_window", (json_int_t)limit->peak);
}

static json_t *top_of(const replay_report *report)
{
    tally_top *top = calloc(report->top + 1, sizeof *top);
    size_t count = top ? tally_most_refused(report->counts, top, report->top) : 0;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_pack("{s:o, s:s, s:I, s:I, s:I}", "key",
                                              text_of(top[i].key, top[i].key_size), "limit",
                                              report->counts->limits[top[i].limit].limit.name,
                                              "refused", (json_int_t)top[i].refused,
                                              "first_refusal_us", (json_int_t)top[i].first_us,
                                              "most_in_window", (json_int_t)top[i].peak));
    }
    free(top);
    return list;
}

static void add_warning(void *context, const char *kind, const char *text)
{
    json_array_append_new(
        context, json_pack("{s:s, s:o}", "kind", kind, "text", text_of(text, strlen(text))));
}

bool report_print_json(const replay_report *report)
{
    const replay_totals *totals = report->totals;
    json_t *logs = json_array(), *limits = json_array(), *warnings = json_array();
    for (size_t i = 0; i < report->in->count; i++) {
        json_array_append_new(logs, log_of(&report->in->files[i]));
    }
    for (size_t i = 0; i < report->counts->limit_count; i++) {
        json_array_append_new(limits, limit_of(&report->counts->limits[i]));
    }
    report_warnings(report, add_warning, warnings);

    bool any = totals->requests > 0;
    json_t *whole = json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "policy",
        text_of(report->policy, strlen(report->policy)), "logs", logs, "requests",
        (json_int_t)totals->requests, "allowed", (json_int_t)totals->allowed, "refused",
        (json_int_t)totals->refused, "refused_by_policy", (json_int_t)totals->refused_by_policy,
        "failed", (json_int_t)totals->failed, "skipped", (json_int_t)input_skipped(report->in),
        "first_us", (json_int_t)report->in->first_us, "last_us", (json_int_t)report->in->last_us,
        "step_us", (json_int_t)(any ? stamp_step_us(&report->in->step) : 0), "evicted",
        (json_int_t)report->store->evicted, "limits", limits, "refused_most", top_of(report),
        "warnings", warnings);
    if (!whole) {
        return false;
    }
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
    return true;
}
