// report.h: what a replay found, for people and for programs.

#ifndef WEIR_TOOL_REPORT_H
#define WEIR_TOOL_REPORT_H

#include <weir/memory.h>

#include "log/input.h"
#include "replay/run.h"
#include "replay/tally.h"

typedef struct replay_report {
    const char *policy; // the path
    const input *in;
    const tally *counts;
    const replay_totals *totals;
    const weir_counters *store;
    size_t top; // how many of the keys refused most are shown
} replay_report;

// What a reader should know before believing the numbers. One list makes what people and programs
// are shown; `text` is a sentence, good for the call.
typedef void report_warn(void *context, const char *kind, const char *text);
void report_warnings(const replay_report *report, report_warn *warn, void *context);

// A table on the standard output.
void report_print(const replay_report *report);

// One JSON object on the standard output. False: no memory.
bool report_print_json(const replay_report *report);

#endif
