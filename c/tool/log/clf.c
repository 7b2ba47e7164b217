// clf: cuts a line of a web server's log at its quotes, which no client can forge: servers escape
// a quote within a field.

#include "log/clf.h"

#include <string.h>

// The end of a quoted part that starts at `at`: a quote that is not escaped and is followed by a
// blank or the line's end. NULL: there is none.
static const char *quote_end(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
        size_t slashes = 0;
        while (at - slashes > start && at[-1 - (ptrdiff_t)slashes] == '\\') {
            slashes++;
        }
        if (slashes % 2 == 0 && (at + 1 == end || at[1] == ' ')) {
            return at;
        }
        at++;
    }
    return NULL;
}

// Address, ident, user and time: what stands before the first quote. A user may hold blanks and
// brackets, so the time is found from behind.
static const char *cut_front(const char *line, const char *quote, clf_line *out)
{
    if (quote - line < 4 || quote[-1] != ' ' || quote[-2] != ']') {
        return "there is no [time] before the request";
    }
    const char *close = quote - 2;
    const char *open = close - line > 27 && close[-27] == '['
                           ? close - 27
                           : memrchr(line, '[', (size_t)(close - line));
    if (!open || open == line || open[-1] != ' ') {
        return "there is no [time] before the request";
    }
    out->time = (clf_part){open + 1, (size_t)(close - open - 1)};

    const char *front_end = open - 1;
    const char *blank = memchr(line, ' ', (size_t)(front_end - line));
    if (!blank || blank == line) {
        return "it does not start with an address, an identity and a user";
    }
    out->address = (clf_part){line, (size_t)(blank - line)};
    const char *ident = blank + 1;
    blank = memchr(ident, ' ', (size_t)(front_end - ident));
    if (!blank) {
        return "it does not start with an address, an identity and a user";
    }
    out->user = (clf_part){blank + 1, (size_t)(front_end - blank - 1)};
    return NULL;
}

static bool take_quoted(const char **at, const char *end, clf_part *out)
{
    if (end - *at < 3 || (*at)[0] != ' ' || (*at)[1] != '"') {
        return false;
    }
    const char *start = *at + 2;
    const char *close = quote_end(start, end);
    if (!close) {
        return false;
    }
    *out = (clf_part){start, (size_t)(close - start)};
    *at = close + 1;
    return true;
}

static bool is_status(const char *at, const char *end)
{
    if (end - at >= 2 && at[0] == '-' && at[1] == ' ') {
        return true;
    }
    if (end - at < 4 || at[3] != ' ') {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '9') {
            return false;
        }
    }
    return true;
}

const char *clf_cut(const char *line, size_t size, bool combined, clf_line *out)
{
    const char *end = line + size;
    const char *quote = size ? memchr(line, '"', size) : NULL;
    if (!quote) {
        return "there is no quoted request in it";
    }
    const char *wrong = cut_front(line, quote, out);
    if (wrong) {
        return wrong;
    }

    // Some servers write a request's own quotes as they came; the status tells which one ends it.
    const char *close = quote_end(quote + 1, end);
    while (close && !is_status(close + 2 <= end ? close + 2 : end, end)) {
        close = quote_end(close + 1, end);
    }
    if (!close) {
        return "it ends before the status and the size";
    }
    out->request = (clf_part){quote + 1, (size_t)(close - quote - 1)};

    const char *at = close + 2;
    const char *blank = at[0] == '-' ? at + 1 : at + 3;
    out->status = (clf_part){at, (size_t)(blank - at)};
    at = blank + 1;
    const char *start = at;
    while (at < end && *at != ' ') {
        at++;
    }
    if (at == start) {
        return "it ends before the size";
    }
    out->bytes = (clf_part){start, (size_t)(at - start)};

    if (combined && !take_quoted(&at, end, &out->referrer)) {
        return "it ends before the referrer";
    }
    if (combined && !take_quoted(&at, end, &out->agent)) {
        return "it ends before the agent";
    }
    return NULL;
}

// Writes member by member: a struct built aside and copied would wait for its own stores.
static void set_field(weir_field *field, const char *name, const char *text, size_t size)
{
    bool nil = size == 0 || (size == 1 && text[0] == '-');
    field->name = name;
    field->text = nil ? NULL : text;
    field->text_size = nil ? 0 : size;
    field->number = 0;
    field->is_number = false;
}

size_t clf_fields(const clf_line *line, bool combined, weir_field out[CLF_FIELDS])
{
    // The method is the first word and the protocol the last; a path may hold blanks.
    const char *method = line->request.text, *end = method + line->request.size;
    const char *method_end = line->request.size ? memchr(method, ' ', line->request.size) : NULL;
    const char *path = method_end ? method_end + 1 : end;
    const char *path_end = memrchr(path, ' ', (size_t)(end - path));
    const char *protocol = path_end ? path_end + 1 : end;
    if (end - protocol < 5 || memcmp(protocol, "HTTP/", 5) != 0) {
        path_end = protocol = end;
    }
    if (!method_end) {
        method_end = end;
    }

    size_t n = 0;
    set_field(&out[n++], "address", line->address.text, line->address.size);
    set_field(&out[n++], "user", line->user.text, line->user.size);
    set_field(&out[n++], "method", method, (size_t)(method_end - method));
    set_field(&out[n++], "path", path, (size_t)(path_end - path));
    set_field(&out[n++], "protocol", protocol, (size_t)(end - protocol));
    set_field(&out[n++], "status", line->status.text, line->status.size);
    set_field(&out[n++], "size", line->bytes.text, line->bytes.size);
    if (combined) {
        set_field(&out[n++], "referrer", line->referrer.text, line->referrer.size);
        set_field(&out[n++], "agent", line->agent.text, line->agent.size);
    }
    return n;
}
