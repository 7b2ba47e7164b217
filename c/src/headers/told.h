// What is told, checked and ready to be written: the checks that are not in shadow, with their
// rows.

#ifndef WEIR_SRC_HEADERS_TOLD_H
#define WEIR_SRC_HEADERS_TOLD_H

#include "headers/writer.h"
#include "weir/headers.h"
#include "weir/store.h"

typedef struct told_check {
    const weir_check *check;
    const weir_decision *row;
    const char *unit; // NULL: requests
} told_check;

typedef struct told {
    const weir_decision *decision;
    weir_headers_options options;
    told_check checks[WEIR_CHECKS_MAX];
    size_t count;
    size_t binding; // the place in checks of the one that binds; of none when there are none
} told;

// Whether the limit stands in the way. In a refusal of several a limit that passes by itself can
// have a wait, when it counts what is denied.
static inline bool is_violated(const weir_decision *row)
{
    return !row->allowed || row->retry_after_us != 0;
}

static inline int64_t seconds_up(int64_t us)
{
    return us / WEIR_SECOND + (us % WEIR_SECOND != 0);
}

// Each header is begun, written and ended before the next.
weir_header *headers_begin(weir_headers *out, const writer *w, const char *name);
void headers_end(weir_header *header, writer *w);

// forms.c: the headers of the form that is asked for.
void headers_write_form(weir_headers *out, writer *w, const told *t);

// problem.c: the body of a refusal.
void headers_write_problem(weir_headers *out, writer *w, const told *t);

#endif
