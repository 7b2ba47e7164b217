// From a decision to the headers of an answer: what was given is checked once, then written.

#include "weir/headers.h"

#include <inttypes.h>

#include "error.h"
#include "headers/told.h"

static const char *const form_names[] = {
#define WEIR_HEADERS_FORM_NAME(name, code, text) [code] = text,
    WEIR_HEADERS_FORM_LIST(WEIR_HEADERS_FORM_NAME)
#undef WEIR_HEADERS_FORM_NAME
};
enum { FORM_END = sizeof form_names / sizeof form_names[0] };

// The longest name and unit with all of it escaped and quoted, and the longest integer.
enum {
    QUOTED = 2 * WEIR_NAME_MAX + 2,
    INTEGER = 15,
    POLICY = sizeof ", ;q=;qu=;w=" - 1 + 2 * QUOTED + 2 * INTEGER,
    SERVICE_LIMIT = sizeof ", ;r=;t=" - 1 + QUOTED + 2 * INTEGER,
    VIOLATED = sizeof "," - 1 + QUOTED,
    REST = 256, // Retry-After, what is around the lists, and NULs
    WITHOUT_KEYS = WEIR_CHECKS_MAX * (POLICY + SERVICE_LIMIT + VIOLATED) + REST,
    KEY = sizeof ";pk=::" - 1 + 150 / 3 * 4,
};
_Static_assert(WITHOUT_KEYS + WEIR_CHECKS_MAX * 2 * KEY <= WEIR_HEADERS_TEXT,
               "what headers.h promises to fit does");

const char *weir_headers_form_name(weir_headers_form form)
{
    return (unsigned)form < FORM_END ? form_names[form] : NULL;
}

weir_status weir_headers_form_parse(const char *name, weir_headers_form *out, weir_error *error)
{
    for (int i = 0; i < FORM_END; i++) {
        if (name != NULL && strcmp(name, form_names[i]) == 0) {
            *out = (weir_headers_form)i;
            return WEIR_OK;
        }
    }
    return weir_fail(error, WEIR_INVALID,
                     "form was \"%.60s\"; it must be draft_08, draft_07, draft_06, x_seconds, "
                     "x_epoch or none",
                     name == NULL ? "" : name);
}

weir_header *headers_begin(weir_headers *out, const writer *w, const char *name)
{
    weir_header *header = &out->list[out->count++];
    *header = (weir_header){.name = name, .value = w->out + w->used};
    return header;
}

void headers_end(weir_header *header, writer *w)
{
    header->value_size = (size_t)(w->out + w->used - header->value);
    write_end(w);
}

static weir_status check_options(const weir_headers_options *o, weir_error *error)
{
    if ((unsigned)o->form >= FORM_END) {
        return weir_fail(error, WEIR_INVALID,
                         "form was %d; it must be one of the weir_headers_form codes, 0 to %d",
                         (int)o->form, FORM_END - 1);
    }
    if (o->form == WEIR_HEADERS_X_EPOCH && (o->now_us < 1 || o->now_us > WEIR_NOW_MAX)) {
        return weir_fail(error, WEIR_INVALID,
                         "now_us was %" PRId64 "; for x_epoch it must be the Unix time of the "
                         "decision, from 1 to 2^52",
                         o->now_us);
    }
    for (size_t i = 0; i < sizeof o->reserved / sizeof o->reserved[0]; i++) {
        if (o->reserved[i] != 0) {
            return weir_fail(error, WEIR_INVALID, "reserved was not zero; it must be");
        }
    }
    return WEIR_OK;
}

static weir_status check_unit(const told_check *c, weir_error *error)
{
    if (c->unit == NULL) {
        return WEIR_OK;
    }
    const size_t size = strnlen(c->unit, WEIR_NAME_MAX + 1);
    bool is_good = size >= 1 && size <= WEIR_NAME_MAX;
    for (size_t i = 0; is_good && i < size; i++) {
        is_good = c->unit[i] >= ' ' && c->unit[i] <= '~';
    }
    if (!is_good) {
        return weir_fail(error, WEIR_INVALID,
                         "unit of limit \"%s\" was \"%.65s\"; it must be 1 to 64 printable ASCII "
                         "characters",
                         c->check->limit->name, c->unit);
    }
    return WEIR_OK;
}

static weir_status check_time(const char *name, const weir_limit *limit, int64_t us, int64_t least,
                              weir_error *error)
{
    // One above what any store answers, whose sum with a now is still a whole number of 64 bits.
    const int64_t most = INT64_C(1) << 60;
    if (us >= least && us <= most) {
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_INVALID,
                     "%s of limit \"%s\" was %" PRId64 "; it must be from %" PRId64 " to 2^60",
                     name, limit->name, us, least);
}

// A row of another limit, which a list in another order would give, is caught by its numbers.
static weir_status check_row(const told_check *c, weir_error *error)
{
    const weir_limit *limit = c->check->limit;
    const weir_decision *row = c->row;
    if (row->status != WEIR_OK) {
        return weir_fail(error, WEIR_INVALID,
                         "the row of limit \"%s\" has the status %s; it must be an answer",
                         limit->name, weir_status_name(row->status));
    }
    if (row->limit != limit->most) {
        return weir_fail(error, WEIR_INVALID,
                         "the row of limit \"%s\" has the limit %" PRId64 "; it must be %" PRId64
                         ", or the row is another's",
                         limit->name, row->limit, limit->most);
    }
    if (row->remaining < 0 || row->remaining > limit->most) {
        return weir_fail(error, WEIR_INVALID,
                         "remaining of limit \"%s\" was %" PRId64 "; it must be from 0 to %" PRId64,
                         limit->name, row->remaining, limit->most);
    }
    const weir_status status =
        check_time("retry_after_us", limit, row->retry_after_us, WEIR_NEVER, error);
    return status != WEIR_OK ? status
                             : check_time("reset_after_us", limit, row->reset_after_us, 0, error);
}

static weir_status check_key(const told *t, const told_check *c, weir_error *error)
{
    if (t->options.partition_key && (c->check->key == NULL || c->check->key_size == 0)) {
        return weir_fail(error, WEIR_INVALID,
                         "the key of limit \"%s\" was empty; to tell it, it must have at least "
                         "one byte",
                         c->check->limit->name);
    }
    return WEIR_OK;
}

static weir_status tell_check(told *t, const told_check *c, weir_error *error)
{
    if (c->check->limit == NULL) {
        return weir_fail(error, WEIR_INVALID, "a check has no limit; it must be given");
    }
    weir_status status = check_row(c, error);
    if (status == WEIR_OK) {
        status = check_unit(c, error);
    }
    if (status == WEIR_OK) {
        status = check_key(t, c, error);
    }
    t->checks[t->count++] = *c;
    return status;
}

static weir_status tell_checks(told *t, const weir_check *checks, const weir_decision *rows,
                               size_t count, weir_error *error)
{
    bool binds = false;
    for (size_t i = 0; i < count; i++) {
        if (t->options.shadow != NULL && t->options.shadow[i]) {
            continue;
        }
        if (i == t->decision->binding) {
            t->binding = t->count;
            binds = true;
        }
        const told_check c = {.check = &checks[i],
                              .row = &rows[i],
                              .unit = t->options.units != NULL ? t->options.units[i] : NULL};
        const weir_status status = tell_check(t, &c, error);
        if (status != WEIR_OK) {
            return status;
        }
    }
    if (t->count > 0 && !binds) {
        return weir_fail(error, WEIR_INVALID,
                         "binding was %zu; it must be the place of a check, not in shadow",
                         t->decision->binding);
    }
    return WEIR_OK;
}

static weir_status read_told(told *t, const weir_decision *decision, const weir_check *checks,
                             const weir_decision *rows, size_t count,
                             const weir_headers_options *options, weir_error *error)
{
    t->count = 0;
    t->binding = 0;
    t->decision = decision;
    t->options = options != NULL ? *options : (weir_headers_options){.form = 0};
    if (decision->status != WEIR_OK) {
        return weir_fail(error, WEIR_INVALID,
                         "the decision has the status %s; it must be an answer",
                         weir_status_name(decision->status));
    }
    if (decision->retry_after_us < WEIR_NEVER) {
        return weir_fail(error, WEIR_INVALID,
                         "retry_after_us was %" PRId64 "; it must be at least -1, never",
                         decision->retry_after_us);
    }
    if (count > WEIR_CHECKS_MAX) {
        return weir_fail(error, WEIR_INVALID, "the number of checks was %zu; it must be at most %d",
                         count, WEIR_CHECKS_MAX);
    }
    if (rows == NULL && count > 1) {
        return weir_fail(error, WEIR_INVALID, "rows was NULL; of %zu checks each must have its row",
                         count);
    }
    const weir_status status = check_options(&t->options, error);
    return status != WEIR_OK ? status
                             : tell_checks(t, checks, rows != NULL ? rows : decision, count, error);
}

static int status_of(const weir_decision *decision)
{
    if (decision->allowed) {
        return 200;
    }
    return decision->source == WEIR_SOURCE_DENY_ON_ERROR ? 503 : 429;
}

// A refusal without a wait: of checks it means as soon as can be told, of none that none is known.
static void write_retry_after(weir_headers *out, writer *w, const told *t)
{
    const int64_t us = t->decision->retry_after_us;
    if (us == WEIR_NEVER || (us == 0 && t->count == 0)) {
        return;
    }
    weir_header *header = headers_begin(out, w, "Retry-After");
    write_whole(w, us == 0 ? 1 : seconds_up(us));
    headers_end(header, w);
}

static void write_refusal(weir_headers *out, writer *w, const told *t)
{
    write_retry_after(out, w, t);
    weir_header *header = headers_begin(out, w, "Cache-Control");
    write_text(w, "no-store");
    headers_end(header, w);
    if (t->options.body) {
        headers_write_problem(out, w, t);
    }
}

weir_status weir_headers_init(weir_headers *out, const weir_decision *decision,
                              const weir_check *checks, const weir_decision *rows, size_t count,
                              const weir_headers_options *options, weir_error *error)
{
    if (out == NULL || decision == NULL || (checks == NULL && count > 0)) {
        return weir_fail(error, WEIR_INVALID, "%s was NULL; it must be given",
                         out == NULL        ? "out"
                         : decision == NULL ? "decision"
                                            : "checks");
    }
    told t;
    const weir_status status = read_told(&t, decision, checks, rows, count, options, error);
    if (status != WEIR_OK) {
        return status;
    }
    writer w = {.out = out->text, .room = sizeof out->text};
    out->status = status_of(decision);
    out->count = 0;
    out->body = out->content_type = NULL;
    out->body_size = 0;
    memset(out->reserved, 0, sizeof out->reserved);
    if (!decision->allowed) {
        write_refusal(out, &w, &t);
    }
    headers_write_form(out, &w, &t);
    if (w.full) {
        return weir_fail(error, WEIR_INVALID,
                         "the keys of %zu checks are too long to be told in %d bytes; leave "
                         "partition_key out",
                         t.count, WEIR_HEADERS_TEXT);
    }
    return WEIR_OK;
}
