// A policy that has been compiled, with the limits that it makes: shared by all its instances.

#ifndef WEIR_POLICY_SOURCE_H
#define WEIR_POLICY_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"

#include "weir/limit.h"

#define SOURCE_TEXT_MAX   ((size_t)64 * 1024)
#define SOURCE_LIMITS_MAX 256

// What holds for every text of one policy.
typedef struct source_terms {
    budget_terms budget;
    size_t field_bytes;
    bool cut_fields;
} source_terms;

typedef struct source {
    atomic_uint references;
    uint64_t generation;
    source_terms terms;
    char *chunk_name; // "@" and the file
    char title[64];   // the file as messages show it

    char *code; // compiled by us, and trusted for that
    size_t code_size;
    weir_limit **limits; // each stays where it is
    bool *shadow;
    size_t limit_count;
    bool has_response;
} source;

// Compiles and runs the text once. WEIR_POLICY or WEIR_POLICY_BUDGET with file, line and reason.
weir_status source_open(source **out, const char *name, const char *text, size_t text_size,
                        const source_terms *terms, weir_error *error);
source *source_keep(source *s);
void source_drop(source *s);

// Appends a limit. WEIR_NO_MEMORY, or WEIR_INVALID when there are too many.
weir_status source_add_limit(source *s, const weir_limit *limit, bool shadow, weir_error *error);

// The index of the limit with that algorithm and name, or limit_count.
size_t source_find_limit(const source *s, const weir_limit *limit);

#endif
