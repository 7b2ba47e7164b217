// The forms in which headers tell what is left of limits.

#include "headers/told.h"

// An integer of RFC 9651 has at most 15 digits. Seconds from 64 bits of microseconds have 13.
_Static_assert(WEIR_COST_MAX <= INT64_C(999999999999999), "a quota fits");
_Static_assert(INT64_MAX / WEIR_SECOND < INT64_C(999999999999999), "a time fits");

// In whole seconds, rounded up: a quota is never told to come back faster than it does. 0: none.
static int64_t window_of(const weir_limit *limit)
{
    if (limit->algorithm == WEIR_CONCURRENCY || limit->span_us < WEIR_SECOND) {
        return 0;
    }
    return seconds_up(limit->span_us);
}

// When the limit has more to give, in microseconds from now; WEIR_NEVER when no wait can help.
static int64_t reset_of(const weir_decision *row)
{
    return is_violated(row) ? row->retry_after_us : row->reset_after_us;
}

static const char *unit_of(const told_check *c)
{
    if (c->unit == NULL && c->check->limit->algorithm == WEIR_CONCURRENCY) {
        return "concurrent-requests";
    }
    return c->unit;
}

static void write_parameter(writer *w, const char *name, int64_t value)
{
    write_text(w, name);
    write_whole(w, value);
}

static void begin_member(writer *w, const told *t, size_t i)
{
    write_text(w, i == 0 ? "" : ", ");
    write_quoted(w, t->checks[i].check->limit->name);
}

static void end_member(writer *w, const told *t, size_t i)
{
    if (t->options.partition_key) {
        write_text(w, ";pk=:");
        write_base64(w, t->checks[i].check->key, t->checks[i].check->key_size);
        write_text(w, ":");
    }
}

static void write_policies(weir_headers *out, writer *w, const told *t)
{
    weir_header *header = headers_begin(out, w, "RateLimit-Policy");
    for (size_t i = 0; i < t->count; i++) {
        const weir_limit *limit = t->checks[i].check->limit;
        const char *unit = unit_of(&t->checks[i]);
        begin_member(w, t, i);
        write_parameter(w, ";q=", limit->most);
        if (unit != NULL) {
            write_text(w, ";qu=");
            write_quoted(w, unit);
        }
        if (window_of(limit) > 0) {
            write_parameter(w, ";w=", window_of(limit));
        }
        end_member(w, t, i);
    }
    headers_end(header, w);
}

static void write_service_limits(weir_headers *out, writer *w, const told *t)
{
    weir_header *header = headers_begin(out, w, "RateLimit");
    for (size_t i = 0; i < t->count; i++) {
        const weir_decision *row = t->checks[i].row;
        begin_member(w, t, i);
        write_parameter(w, ";r=", row->remaining);
        if (reset_of(row) != WEIR_NEVER) {
            write_parameter(w, ";t=", seconds_up(reset_of(row)));
        }
        end_member(w, t, i);
    }
    headers_end(header, w);
}

static void write_dictionary(weir_headers *out, writer *w, const weir_decision *row)
{
    weir_header *header = headers_begin(out, w, "RateLimit");
    write_parameter(w, "limit=", row->limit);
    write_parameter(w, ", remaining=", row->remaining);
    if (reset_of(row) != WEIR_NEVER) {
        write_parameter(w, ", reset=", seconds_up(reset_of(row)));
    }
    headers_end(header, w);
}

static void write_number(weir_headers *out, writer *w, const char *name, int64_t value)
{
    weir_header *header = headers_begin(out, w, name);
    write_whole(w, value);
    headers_end(header, w);
}

// `since_us` is what the reset counts from: 0 for now, or now as Unix time.
static void write_triple(weir_headers *out, writer *w, const char *const names[3],
                         const weir_decision *row, int64_t since_us)
{
    write_number(out, w, names[0], row->limit);
    write_number(out, w, names[1], row->remaining);
    if (reset_of(row) != WEIR_NEVER) {
        write_number(out, w, names[2], seconds_up(since_us + reset_of(row)));
    }
}

void headers_write_form(weir_headers *out, writer *w, const told *t)
{
    static const char *const plain[] = {"RateLimit-Limit", "RateLimit-Remaining",
                                        "RateLimit-Reset"};
    static const char *const x[] = {"X-RateLimit-Limit", "X-RateLimit-Remaining",
                                    "X-RateLimit-Reset"};
    const bool is_known = t->decision->source == WEIR_SOURCE_STORE;
    if (t->count == 0) {
        return;
    }
    if (t->options.form == WEIR_HEADERS_DRAFT_08) {
        write_policies(out, w, t);
    }
    if (!is_known) {
        return;
    }
    const weir_decision *binding = t->checks[t->binding].row;
    switch (t->options.form) {
    case WEIR_HEADERS_DRAFT_08:
        write_service_limits(out, w, t);
        break;
    case WEIR_HEADERS_DRAFT_07:
        write_dictionary(out, w, binding);
        break;
    case WEIR_HEADERS_DRAFT_06:
        write_triple(out, w, plain, binding, 0);
        break;
    case WEIR_HEADERS_X_SECONDS:
        write_triple(out, w, x, binding, 0);
        break;
    case WEIR_HEADERS_X_EPOCH:
        write_triple(out, w, x, binding, t->options.now_us);
        break;
    case WEIR_HEADERS_NONE:
        break;
    }
}
