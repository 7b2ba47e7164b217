// reader: reads a line by its format's own file.

#include "log/reader.h"

#include <stdlib.h>
#include <string.h>

const char *reader_format_name(log_format format)
{
    static const char *const names[] = {
#define LOG_FORMAT_NAME(name, text) text,
        LOG_FORMAT_LIST(LOG_FORMAT_NAME)
#undef LOG_FORMAT_NAME
    };
    return names[format];
}

const weir_field *reader_field(const weir_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

// `time` is the record's time in a policy and not a field.
static size_t drop_time(weir_field *fields, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, "time") != 0) {
            fields[kept++] = fields[i];
        }
    }
    return kept;
}

void reader_close(log_reader *reader)
{
    tsv_header_free(&reader->header);
    json_line_close(&reader->json);
    free(reader->time_name_kept);
    *reader = (log_reader){0};
}

// Time and fields of a JSON or tab-separated line, with the time still among the fields.
static const char *read_named(log_reader *reader, const char *line, size_t size, weir_field *fields,
                              size_t *count)
{
    *count = reader->header.count;
    return reader->format == LOG_JSON ? json_line_read(&reader->json, line, size, fields, count)
                                      : tsv_fields(&reader->header, line, size, fields);
}

const char *reader_read(log_reader *reader, const char *line, size_t size, int64_t *out_us,
                        weir_field out[READER_FIELDS_MAX], size_t *out_count)
{
    bool combined = reader->format == LOG_COMBINED;
    if (combined || reader->format == LOG_COMMON) {
        clf_line cut;
        const char *wrong = clf_cut(line, size, combined, &cut);
        if (!wrong) {
            wrong = stamp_read(&reader->stamps, cut.time.text, cut.time.size, out_us);
        }
        if (!wrong) {
            *out_count = clf_fields(&cut, combined, out);
        }
        return wrong;
    }
    size_t count;
    const char *wrong = read_named(reader, line, size, out, &count);
    if (wrong) {
        return wrong;
    }
    const weir_field *time = reader_field(out, count, reader->time_name);
    if (!time || !time->text) {
        return "its time is missing";
    }
    wrong = stamp_read(&reader->stamps, time->text, time->text_size, out_us);
    *out_count = drop_time(out, count);
    return wrong;
}

const char *reader_time(log_reader *reader, const char *line, size_t size, int64_t *out_us)
{
    bool combined = reader->format == LOG_COMBINED;
    if (combined || reader->format == LOG_COMMON) {
        clf_line cut;
        const char *wrong = clf_cut(line, size, combined, &cut);
        return wrong ? wrong : stamp_read(&reader->stamps, cut.time.text, cut.time.size, out_us);
    }
    weir_field fields[READER_FIELDS_MAX];
    size_t count;
    return reader_read(reader, line, size, out_us, fields, &count);
}

size_t reader_fields(log_reader *reader, const char *line, size_t size,
                     weir_field out[READER_FIELDS_MAX])
{
    bool combined = reader->format == LOG_COMBINED;
    if (combined || reader->format == LOG_COMMON) {
        clf_line cut;
        return clf_cut(line, size, combined, &cut) ? 0 : clf_fields(&cut, combined, out);
    }
    size_t count;
    return read_named(reader, line, size, out, &count) ? 0 : drop_time(out, count);
}
