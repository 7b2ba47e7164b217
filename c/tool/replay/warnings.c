// warnings: what a reader should know before believing the numbers.

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weir/duration.h>

#include "replay/report.h"
#include "text.h"

// A window this many steps of the stamps long has its edge placed by the stamps, not by traffic.
#define STEPS_LEAST 10

typedef struct warner {
    report_warn *warn;
    void *context;
} warner;

static void warn(const warner *to, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void warn(const warner *to, const char *kind, const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    to->warn(to->context, kind, text);
}

static void warn_of_file(const warner *to, const log_file *file, bool as_logged)
{
    char path[300], count[TEXT_COUNT], span[WEIR_DURATION_TEXT];
    text_escape(file->path, strlen(file->path), path, sizeof path);
    if (file->error[0] && file->told) {
        warn(to, "unread", "%s: read in part: %s", path, file->error);
    }
    if (file->skipped > 0) {
        warn(to, "skipped", "%s: %s %s skipped; the first is line %" PRIu64 ": %s", path,
             text_count(file->skipped, count), file->skipped == 1 ? "line was" : "lines were",
             file->skipped_line, file->skipped_reason);
    }
    if (file->backwards > 0) {
        warn(to, "backwards", "%s: %s %s earlier than the line before, by up to %s; %s", path,
             text_count(file->backwards, count), file->backwards == 1 ? "stamp is" : "stamps are",
             weir_duration_format(file->backwards_most_us, span),
             as_logged ? "as logged, each counts as a late request"
                       : "the records were sorted by time");
    }

    const stamp_reader *stamps = &file->reader.stamps;
    int minutes = stamps->zone_minutes;
    if (stamps->zones_differ) {
        warn(to, "zone", "%s: its stamps are in several time zones; all were brought to UTC", path);
    } else if (stamps->zoned && minutes != 0) {
        warn(to, "zone", "%s: its stamps are in the zone %c%02d:%02d and were brought to UTC", path,
             minutes < 0 ? '-' : '+', (minutes < 0 ? -minutes : minutes) / 60,
             (minutes < 0 ? -minutes : minutes) % 60);
    }
    if (stamps->zoneless) {
        warn(to, "zone", "%s: its stamps name no time zone and were taken as UTC", path);
    }
    if (stamps->finer) {
        warn(to, "finer", "%s: its stamps are finer than a microsecond, which was cut off", path);
    }
}

static void warn_of_steps(const warner *to, const replay_report *report)
{
    int64_t step_us = stamp_step_us(&report->in->step);
    char window[WEIR_DURATION_TEXT], step[WEIR_DURATION_TEXT];
    for (size_t i = 0; i < report->counts->limit_count; i++) {
        const tally_limit *counts = &report->counts->limits[i];
        const weir_limit *limit = &counts->limit;
        if (counts->asked > 0 && limit->window_us < STEPS_LEAST * step_us) {
            warn(to, "steps",
                 "%s: its window of %s is under ten steps of the stamps, %s: who is refused is "
                 "decided by how they are rounded",
                 limit->name, weir_duration_format(limit->window_us, window),
                 weir_duration_format(step_us, step));
        }
    }
}

void report_warnings(const replay_report *report, report_warn *callback, void *context)
{
    warner to = {callback, context};
    const replay_totals *totals = report->totals;
    for (size_t i = 0; i < report->in->count; i++) {
        warn_of_file(&to, &report->in->files[i], report->in->as_logged);
    }
    if (totals->requests > 0) {
        warn_of_steps(&to, report);
    }

    char count[TEXT_COUNT], reason[1000];
    text_escape(totals->failed_reason, strlen(totals->failed_reason), reason, sizeof reason);
    if (totals->failed > 0) {
        warn(&to, "failed", "%s %s no answer; the first is at %s line %" PRIu64 ": %s",
             text_count(totals->failed, count),
             totals->failed == 1 ? "request got" : "requests got", totals->failed_path,
             totals->failed_line, reason);
    }
    if (totals->responses_failed > 0) {
        warn(&to, "failed",
             "the policy's response failed for %s; the first is at %s line %" PRIu64 ": %s",
             text_count(totals->responses_failed, count), totals->failed_path, totals->failed_line,
             reason);
    }
    if (report->store->evicted > 0) {
        warn(&to, "evicted",
             "the store forgot %s live keys for want of room, so too few were refused; give it "
             "more with --memory",
             text_count(report->store->evicted, count));
    }
}
