// tsv: cuts a line at its tabs, and takes it only with as many columns as the header named.

#include "log/tsv.h"

#include <stdlib.h>
#include <string.h>

const char *tsv_header_read(tsv_header *header, const char *line, size_t size)
{
    static const char zeek[] = "#fields\t";
    *header = (tsv_header){0};
    size_t skip = size > sizeof zeek - 1 && memcmp(line, zeek, sizeof zeek - 1) == 0
                      ? sizeof zeek - 1
                      : (size_t)(size > 0 && line[0] == '#');
    while (skip < size && line[skip] == ' ') {
        skip++;
    }
    line += skip;
    size -= skip;
    if (size == 0 || !memchr(line, '\t', size)) {
        return "its header has no tab";
    }
    if (memchr(line, '\0', size)) {
        return "its header holds a zero byte";
    }
    header->text = malloc(size + 1);
    if (!header->text) {
        return "there is no memory for its header";
    }
    memcpy(header->text, line, size);
    header->text[size] = '\0';

    for (char *at = header->text; at;) {
        if (header->count == TSV_COLUMNS_MAX) {
            tsv_header_free(header);
            return "its header has more than 256 columns";
        }
        header->names[header->count++] = at;
        at = strchr(at, '\t');
        if (at) {
            *at++ = '\0';
        }
    }
    return NULL;
}

void tsv_header_free(tsv_header *header)
{
    free(header->text);
    *header = (tsv_header){0};
}

const char *tsv_fields(const tsv_header *header, const char *line, size_t size, weir_field *out)
{
    const char *at = line, *end = line + size;
    for (size_t i = 0; i < header->count; i++) {
        const char *tab = at < end ? memchr(at, '\t', (size_t)(end - at)) : NULL;
        if (!tab && i + 1 < header->count) {
            return "it has fewer columns than the header";
        }
        if (tab && i + 1 == header->count) {
            return "it has more columns than the header";
        }
        size_t cell = (size_t)((tab ? tab : end) - at);
        bool nil = cell == 0 || (cell == 1 && *at == '-');
        out[i] = (weir_field){
            .name = header->names[i], .text = nil ? NULL : at, .text_size = nil ? 0 : cell};
        at = tab ? tab + 1 : end;
    }
    return NULL;
}
