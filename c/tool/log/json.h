// json.h: logs with one JSON object a line.

#ifndef WEIR_TOOL_JSON_H
#define WEIR_TOOL_JSON_H

#include <stddef.h>

#include <weir/policy.h>

#define JSON_FIELDS_MAX 256

struct json_t;

// One line at a time: the parsed object and the text of what is no string in it.
typedef struct json_line {
    struct json_t *root;
    char *scratch;
    size_t scratch_used;
} json_line;

// Reads an object into fields, all as text: numbers and truth as written, null as nil, an object
// within as "outer.inner", an array as JSON. The fields are good until the next call or close.
// What is beyond JSON_FIELDS_MAX fields or 64 KiB of such text is left out. NULL, or what is wrong
// with the line: a static half sentence.
const char *json_line_read(json_line *json, const char *line, size_t size,
                           weir_field out[JSON_FIELDS_MAX], size_t *out_count);
void json_line_close(json_line *json);

#endif
