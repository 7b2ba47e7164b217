// findings.h: what an audit has found, and what to do about each.

#ifndef WEIR_TOOL_FINDINGS_H
#define WEIR_TOOL_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum finding_level {
    FINDING_FINE,
    FINDING_NOTE, // good to know
    FINDING_MEND, // limits will fail, or forget, until it is mended
} finding_level;

#define FINDINGS_MAX 64

typedef struct finding {
    finding_level level;
    const char *about; // one word
    char found[400];
    char advice[300]; // empty: nothing
} finding;

typedef struct findings {
    finding list[FINDINGS_MAX];
    size_t count;
    size_t mend; // of which must be mended
} findings;

// Adds one; `format` says what was found. Beyond the most there can be it is only counted.
void findings_add(findings *all, finding_level level, const char *about, const char *advice,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

// `address` is the server's.
void findings_print(const findings *all, const char *address);
void findings_print_json(const findings *all, const char *address);

#endif
