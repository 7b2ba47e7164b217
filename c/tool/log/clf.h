// clf.h: the common and combined log formats of web servers.
//
//   address ident user [time] "method path protocol" status size
//   the same, then "referrer" "agent", and perhaps more, which is ignored

#ifndef WEIR_TOOL_CLF_H
#define WEIR_TOOL_CLF_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/policy.h>

#define CLF_FIELDS 9

// A line cut into its parts; each is a pointer into the line and a size.
typedef struct clf_part {
    const char *text;
    size_t size;
} clf_part;

typedef struct clf_line {
    clf_part address, user, time, request, status, bytes, referrer, agent;
} clf_line;

// Cuts a line; `combined` wants referrer and agent too. NULL when it is whole, else what is wrong
// with it: a static half sentence.
const char *clf_cut(const char *line, size_t size, bool combined, clf_line *out);

// Writes the fields of a line: address, user, method, path, protocol, status, size and, when
// combined, referrer and agent. "-" is nil. Returns how many.
size_t clf_fields(const clf_line *line, bool combined, weir_field out[CLF_FIELDS]);

#endif
