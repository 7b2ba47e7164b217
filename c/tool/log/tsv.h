// tsv.h: logs of tab-separated columns under a header line, which may start with #.

#ifndef WEIR_TOOL_TSV_H
#define WEIR_TOOL_TSV_H

#include <stdbool.h>
#include <stddef.h>

#include <weir/policy.h>

#define TSV_COLUMNS_MAX 256

typedef struct tsv_header {
    char *text; // the names, each ended by a NUL
    const char *names[TSV_COLUMNS_MAX];
    size_t count;
} tsv_header;

// Reads "a\tb\tc", "#a\tb" or "#fields\ta\tb". NULL when it is a header, else what is wrong with
// it: a static half sentence.
const char *tsv_header_read(tsv_header *header, const char *line, size_t size);
void tsv_header_free(tsv_header *header);

// Cuts a line into as many fields as there are columns. "-" and nothing are nil. NULL, or what is
// wrong with it.
const char *tsv_fields(const tsv_header *header, const char *line, size_t size, weir_field *out);

#endif
