// json: one object a line, flattened into text fields.

#include "log/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_SIZE ((size_t)64 << 10)
#define DEPTH_MAX    8

typedef struct filling {
    json_line *json;
    weir_field *fields;
    size_t count;
} filling;

static char *scratch_at(json_line *json, size_t size)
{
    return SCRATCH_SIZE - json->scratch_used >= size ? json->scratch + json->scratch_used : NULL;
}

// Keeps a text that is not in the object as it stands. NULL: no room.
static const char *keep(json_line *json, const char *text, size_t size)
{
    char *out = scratch_at(json, size + 1);
    if (!out) {
        return NULL;
    }
    memcpy(out, text, size);
    out[size] = '\0';
    json->scratch_used += size + 1;
    return out;
}

// The shortest decimals that give the number back.
static size_t real_text(double value, char *out, size_t size)
{
    int length = snprintf(out, size, "%.15g", value);
    if (strtod(out, NULL) != value) {
        length = snprintf(out, size, "%.17g", value);
    }
    return (size_t)length;
}

// A time in seconds has ten digits before its point and six after: it is written out in full.
static size_t number_text(const json_t *value, char *out, size_t size)
{
    if (json_is_integer(value)) {
        return (size_t)snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    }
    double real = json_real_value(value);
    bool time_like = real >= 1e8 && real < 1e11;
    return time_like ? (size_t)snprintf(out, size, "%.6f", real) : real_text(real, out, size);
}

static void add(filling *to, const char *name, const char *text, size_t size)
{
    to->fields[to->count++] = (weir_field){.name = name, .text = text, .text_size = size};
}

static void add_value(filling *to, const char *name, const json_t *value, int depth);

static void add_inner(filling *to, const char *name, const json_t *object, int depth)
{
    const char *inner;
    json_t *value;
    size_t outer_size = strlen(name);
    json_object_foreach ((json_t *)object, inner, value) {
        size_t size = outer_size + 1 + strlen(inner);
        char *joined = scratch_at(to->json, size + 1);
        if (!joined) {
            return;
        }
        snprintf(joined, size + 1, "%s.%s", name, inner);
        to->json->scratch_used += size + 1;
        add_value(to, joined, value, depth + 1);
    }
}

static void add_array(filling *to, const char *name, const json_t *value)
{
    size_t room = SCRATCH_SIZE - to->json->scratch_used;
    char *out = to->json->scratch + to->json->scratch_used;
    size_t size = json_dumpb(value, out, room, JSON_COMPACT);
    if (size == 0 || size > room) {
        return;
    }
    to->json->scratch_used += size;
    add(to, name, out, size);
}

static void add_value(filling *to, const char *name, const json_t *value, int depth)
{
    if (to->count == JSON_FIELDS_MAX) {
        return;
    }
    if (json_is_string(value)) {
        add(to, name, json_string_value(value), json_string_length(value));
    } else if (json_is_number(value)) {
        char text[64];
        size_t size = number_text(value, text, sizeof text);
        const char *kept = keep(to->json, text, size);
        if (kept) {
            add(to, name, kept, size);
        }
    } else if (json_is_boolean(value)) {
        bool yes = json_is_true(value);
        add(to, name, yes ? "true" : "false", yes ? 4 : 5);
    } else if (json_is_null(value)) {
        add(to, name, NULL, 0);
    } else if (json_is_object(value) && depth < DEPTH_MAX) {
        add_inner(to, name, value, depth);
    } else if (json_is_array(value)) {
        add_array(to, name, value);
    }
}

const char *json_line_read(json_line *json, const char *line, size_t size,
                           weir_field out[JSON_FIELDS_MAX], size_t *out_count)
{
    if (!json->scratch && !(json->scratch = malloc(SCRATCH_SIZE))) {
        return "there is no memory to read it";
    }
    json_decref(json->root);
    json->scratch_used = 0;
    json->root = json_loadb(line, size, JSON_ALLOW_NUL, NULL);
    if (!json->root) {
        return "it is not whole JSON";
    }
    if (!json_is_object(json->root)) {
        return "it is JSON, but not an object";
    }
    filling to = {json, out, 0};
    const char *name;
    json_t *value;
    json_object_foreach (json->root, name, value) {
        add_value(&to, name, value, 1);
    }
    *out_count = to.count;
    return NULL;
}

void json_line_close(json_line *json)
{
    json_decref(json->root);
    free(json->scratch);
    *json = (json_line){0};
}
