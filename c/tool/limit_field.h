// limit_field.h: the fields of a limit by the names that policies, vectors and words use.

#ifndef WEIR_TOOL_LIMIT_FIELD_H
#define WEIR_TOOL_LIMIT_FIELD_H

#include <stddef.h>

#include <weir/limit.h>

typedef enum limit_field_kind {
    LIMIT_FIELD_COUNT,
    LIMIT_FIELD_RATE, // a count, or as "5/m" one with its period
    LIMIT_FIELD_DURATION,
    LIMIT_FIELD_FLAG,
} limit_field_kind;

typedef struct limit_field {
    const char *name;
    limit_field_kind kind;
    size_t offset; // in weir_limit_options: an int64_t, or a bool for a flag
} limit_field;

// NULL: there is no such field.
const limit_field *limit_field_find(const char *name);

// Sets a field that is no flag. A burst that is given as nought means it.
void limit_field_set(weir_limit_options *options, const limit_field *field, int64_t value);
void limit_field_set_flag(weir_limit_options *options, const limit_field *field, bool value);

#endif
