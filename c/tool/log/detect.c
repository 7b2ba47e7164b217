// detect: tells the format of a log by trying each on its first lines, and finds the field with the
// time.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/reader.h"
#include "text.h"

#define SAMPLE_LINES 200

// Names that a column with the time goes by, likeliest first.
static const char *const time_names[] = {
    "time",       "timestamp", "@timestamp", "ts",   "datetime",   "date",       "time_iso8601",
    "time_local", "msec",      "start_time", "when", "event_time", "created_at",
};
#define TIME_NAMES (sizeof time_names / sizeof *time_names)

// The next line of a sample that may end in the middle of one.
static bool sample_line(const char **at, const char *end, const char **out, size_t *out_size)
{
    if (*at >= end) {
        return false;
    }
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    const char *line_end = newline ? newline : end;
    *out = *at;
    *out_size = (size_t)(line_end - *at);
    if (*out_size > 0 && (*out)[*out_size - 1] == '\r') {
        --*out_size;
    }
    *at = newline ? newline + 1 : end;
    return true;
}

typedef struct sample {
    const char *start, *end;
} sample;

// How many of the first lines each format takes.
static void count_formats(sample text, size_t taken[LOG_TSV + 1])
{
    json_line json = {0};
    weir_field *fields = malloc(READER_FIELDS_MAX * sizeof *fields);
    const char *at = text.start, *line;
    size_t size, count;
    for (size_t i = 0; fields && i < SAMPLE_LINES && sample_line(&at, text.end, &line, &size);
         i++) {
        clf_line cut;
        taken[LOG_COMBINED] += clf_cut(line, size, true, &cut) == NULL;
        taken[LOG_COMMON] += clf_cut(line, size, false, &cut) == NULL;
        taken[LOG_JSON] +=
            size > 0 && line[0] == '{' && !json_line_read(&json, line, size, fields, &count);
    }
    free(fields);
    json_line_close(&json);
}

// Says what a file is that is no log, when it can be told.
static const char *binary_kind(const char *data, size_t size)
{
    static const struct {
        const char *magic, *kind;
    } kinds[] = {
        {"\x28\xb5\x2f\xfd", "zstd; try zstd -dc LOG | weir replay POLICY -"},
        {"\xfd"
         "7zXZ",
         "xz; try xz -dc LOG | weir replay POLICY -"},
        {"BZh", "bzip2; try bzip2 -dc LOG | weir replay POLICY -"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (size > strlen(kinds[i].magic) &&
            memcmp(data, kinds[i].magic, strlen(kinds[i].magic)) == 0) {
            return kinds[i].kind;
        }
    }
    return memchr(data, '\0', size) ? "binary: it holds zero bytes" : NULL;
}

// A field is the time when it goes by such a name and reads as one since 1973: a smaller number is
// likelier to be how long a request took.
static const char *find_time(const weir_field *fields, size_t count)
{
    for (size_t i = 0; i < TIME_NAMES; i++) {
        const weir_field *field = reader_field(fields, count, time_names[i]);
        stamp_reader stamps = {0};
        int64_t time_us;
        if (field && field->text && field->text_size > 0 &&
            !stamp_read(&stamps, field->text, field->text_size, &time_us) &&
            time_us > INT64_C(100000000000000)) {
            return time_names[i];
        }
    }
    return NULL;
}

static void list_names(const weir_field *fields, size_t count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used + 40 < size; i++) {
        char name[32];
        text_escape(fields[i].name, strlen(fields[i].name), name, sizeof name);
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", name);
    }
}

// Settles which field has the time, by the first line of the sample that is a record.
static bool settle_time(log_reader *reader, sample text, const char *wanted, char *error,
                        size_t error_size)
{
    weir_field *fields = malloc(READER_FIELDS_MAX * sizeof *fields);
    const char *at = text.start, *line;
    size_t size, count = 0;
    bool found = false;
    while (fields && !found && sample_line(&at, text.end, &line, &size)) {
        if (reader_passes_over(reader, line, size)) {
            continue;
        }
        const char *wrong = "";
        if (reader->format == LOG_JSON) {
            wrong = json_line_read(&reader->json, line, size, fields, &count);
        } else if (!(wrong = tsv_fields(&reader->header, line, size, fields))) {
            count = reader->header.count;
        }
        found = wrong == NULL;
    }
    char names[300];
    if (!fields) {
        snprintf(error, error_size, "there is no memory to read it");
    } else if (!found) {
        snprintf(error, error_size, "none of its first lines is a record of the format %s",
                 reader_format_name(reader->format));
    } else if (wanted && !reader_field(fields, count, wanted)) {
        list_names(fields, count, names, sizeof names);
        snprintf(error, error_size, "--time %s: there is no such field; there are %s", wanted,
                 names);
        found = false;
    } else if (wanted) {
        reader->time_name = reader->time_name_kept = strdup(wanted);
        found = reader->time_name != NULL;
    } else if (!(reader->time_name = find_time(fields, count))) {
        list_names(fields, count, names, sizeof names);
        snprintf(error, error_size,
                 "no field looks like the time of a request; name it with --time FIELD, one of %s",
                 names);
        found = false;
    }
    free(fields);
    return found;
}

static bool take_header(log_reader *reader, log_lines *lines, char *error, size_t error_size)
{
    const char *line;
    size_t size;
    // What follows the #separator and #path lines of a Zeek log is its header.
    do {
        if (!lines_next(lines, &line, &size)) {
            snprintf(error, error_size, "it has no header line");
            return false;
        }
    } while (size == 0 || (line[0] == '#' && !memchr(line, '\t', size)) ||
             (size > 5 && (memcmp(line, "#set_", 5) == 0 || memcmp(line, "#empt", 5) == 0 ||
                           memcmp(line, "#unse", 5) == 0 || memcmp(line, "#path", 5) == 0 ||
                           memcmp(line, "#open", 5) == 0)));
    const char *wrong = tsv_header_read(&reader->header, line, size);
    if (wrong) {
        snprintf(error, error_size, "%s", wrong);
    }
    return wrong == NULL;
}

bool reader_open(log_reader *reader, log_lines *lines, const char *time_name, char *error,
                 size_t error_size)
{
    *reader = (log_reader){.time_name = "time"};
    if (lines->size >= 3 && memcmp(lines->data, "\xef\xbb\xbf", 3) == 0) {
        lines->at = 3;
    }
    size_t size = lines->size < LINES_SAMPLE ? lines->size : LINES_SAMPLE;
    sample text = {lines->data + lines->at, lines->data + size};
    if (lines->at >= size) {
        snprintf(error, error_size, "it is empty");
        return false;
    }
    const char *kind = binary_kind(text.start, (size_t)(text.end - text.start));
    if (kind) {
        snprintf(error, error_size, "it is no text log but %s", kind);
        return false;
    }

    size_t taken[LOG_TSV + 1] = {0};
    count_formats(text, taken);
    // Every combined line is a common one with more behind it.
    bool combined = taken[LOG_COMBINED] * 2 >= taken[LOG_COMMON] && taken[LOG_COMBINED] > 0;
    size_t best = combined ? taken[LOG_COMBINED] : taken[LOG_COMMON];
    if (taken[LOG_JSON] > best) {
        reader->format = LOG_JSON;
    } else if (best > 0) {
        reader->format = combined ? LOG_COMBINED : LOG_COMMON;
        if (time_name && strcmp(time_name, "time") != 0) {
            snprintf(error, error_size,
                     "--time %s: a %s log has its time in brackets, and only there", time_name,
                     reader_format_name(reader->format));
            return false;
        }
        return true;
    } else if (memchr(text.start, '\t', (size_t)(text.end - text.start))) {
        reader->format = LOG_TSV;
        if (!take_header(reader, lines, error, error_size)) {
            return false;
        }
        text.start = lines->data + lines->at;
        text.end = lines->data + (lines->size < LINES_SAMPLE ? lines->size : LINES_SAMPLE);
    } else {
        snprintf(error, error_size,
                 "none of its first lines is a record; combined, common, JSON lines and "
                 "tab-separated with a header are read");
        return false;
    }
    return settle_time(reader, text, time_name, error, error_size);
}
