// reader.h: tells the format of a log and reads its lines: the time, and the request's fields.

#ifndef WEIR_TOOL_READER_H
#define WEIR_TOOL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/clf.h"
#include "log/json.h"
#include "log/lines.h"
#include "log/stamp.h"
#include "log/tsv.h"

// The formats, as they are named in reports.
#define LOG_FORMAT_LIST(X)                                                                         \
    X(COMBINED, "combined")                                                                        \
    X(COMMON, "common")                                                                            \
    X(JSON, "JSON lines")                                                                          \
    X(TSV, "tab-separated")

typedef enum log_format {
#define LOG_FORMAT_CODE(name, text) LOG_##name,
    LOG_FORMAT_LIST(LOG_FORMAT_CODE)
#undef LOG_FORMAT_CODE
} log_format;

#define READER_FIELDS_MAX 256

typedef struct log_reader {
    log_format format;
    stamp_reader stamps;
    const char *time_name; // the field with the time. Its own copy, or static
    char *time_name_kept;
    tsv_header header;
    json_line json;
} log_reader;

// Tells the format from the first lines, which stay to be read (but for a header).
// `time_name` is the field with the time, NULL: found by its name and its look. False: error has a
// sentence. Close it in any case.
bool reader_open(log_reader *reader, log_lines *lines, const char *time_name, char *error,
                 size_t error_size);
void reader_close(log_reader *reader);

const char *reader_format_name(log_format format);

// The field of that name, or NULL.
const weir_field *reader_field(const weir_field *fields, size_t count, const char *name);

// A line that is no record and no mistake: blank, or a # comment in a tab-separated log.
static inline bool reader_passes_over(const log_reader *reader, const char *line, size_t size)
{
    return size == 0 || (reader->format == LOG_TSV && line[0] == '#');
}

// Reads a whole line: its time, and its fields into out and *out_count. The fields point into the
// line and the reader and are good until the next call. NULL, or what is wrong with the line: a
// static half sentence.
const char *reader_read(log_reader *reader, const char *line, size_t size, int64_t *out_us,
                        weir_field out[READER_FIELDS_MAX], size_t *out_count);

// The time alone, with the same judgement of the line.
const char *reader_time(log_reader *reader, const char *line, size_t size, int64_t *out_us);

// The fields alone, of a line that was read before.
size_t reader_fields(log_reader *reader, const char *line, size_t size,
                     weir_field out[READER_FIELDS_MAX]);

#endif
