// fail_if.h: a condition on a replay, such as "refused > 1%", that a script can fail on.

#ifndef WEIR_TOOL_FAIL_IF_H
#define WEIR_TOOL_FAIL_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The counts a condition may name. A percentage is of the requests, and of the lines for skipped.
typedef struct fail_counts {
    uint64_t requests, allowed, refused, failed, skipped, evicted;
} fail_counts;

typedef struct fail_if {
    const char *text;    // as given. Kept
    size_t count_offset; // of the count in fail_counts
    int comparison;      // an index in the list of operators
    double value;
    bool percent;
} fail_if;

// Reads "COUNT OP NUMBER" or "COUNT OP NUMBER%", blanks at will. False: error has a sentence.
bool fail_if_parse(fail_if *out, const char *text, char *error, size_t error_size);

// Whether the condition holds, so that the replay is to fail.
bool fail_if_holds(const fail_if *condition, const fail_counts *counts);

#endif
