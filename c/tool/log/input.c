// input: reads logs in their own order, which mostly is that of time; else reads them for their
// times, sorts those, and reads each line again in its turn.

#include "log/input.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/sort.h"

#define OFFSET_BITS 48
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)
#define FILES_MAX   65535

// A mapped log that is cut short under our hands, as by a rotation that copies and truncates.
static void on_shrunk(int signal_number)
{
    static const char message[] = "weir: a log was cut short while it was read; copy it first, or "
                                  "pipe it in\n";
    (void)signal_number;
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(2);
}

static bool open_file(const input *in, log_file *file, progress_function *progress)
{
    if (!lines_open(&file->lines, file->path)) {
        snprintf(file->error, sizeof file->error, "%s", file->lines.error);
        return false;
    }
    if (!in->as_logged) {
        lines_load(&file->lines, progress);
    }
    file->told =
        reader_open(&file->reader, &file->lines, in->time_name, file->error, sizeof file->error);
    file->start_at = file->lines.at;
    file->start_line = file->lines.line;
    // A stream that broke at once explains better why no record was found in it.
    if (file->lines.error[0]) {
        snprintf(file->error, sizeof file->error, "%s", file->lines.error);
    }
    return file->told;
}

bool input_open(input *in, char *const *paths, size_t count, const char *time_name, bool as_logged,
                progress_function *progress)
{
    signal(SIGBUS, on_shrunk);
    *in = (input){.time_name = time_name, .as_logged = as_logged, .step = STAMP_STEP_START};
    if (count > FILES_MAX || !(in->files = calloc(count ? count : 1, sizeof *in->files))) {
        return false;
    }
    in->count = count;
    for (size_t i = 0; i < count; i++) {
        in->files[i].path = paths[i];
        open_file(in, &in->files[i], progress);
    }
    return true;
}

void input_close(input *in)
{
    for (size_t i = 0; i < in->count; i++) {
        lines_close(&in->files[i].lines);
        reader_close(&in->files[i].reader);
    }
    free(in->files);
    grow_free(&in->records);
    *in = (input){0};
}

static void note_skipped(log_file *file, const char *reason)
{
    if (file->skipped++ == 0) {
        file->skipped_line = file->lines.line;
        file->skipped_reason = reason;
    }
}

static void note_record(input *in, log_file *file, int64_t time_us)
{
    bool first = in->step.count == 0;
    if (file->records++ > 0 && time_us < file->last_us) {
        file->backwards++;
        int64_t back_us = file->last_us - time_us;
        if (back_us > file->backwards_most_us) {
            file->backwards_most_us = back_us;
        }
    }
    file->last_us = time_us;
    if (first || time_us < in->first_us) {
        in->first_us = time_us;
    }
    if (first || time_us > in->last_us) {
        in->last_us = time_us;
    }
    stamp_step_add(&in->step, time_us);
}

static bool keep_record(input *in, size_t index, uint64_t offset, int64_t time_us)
{
    size_t count = in->record_count;
    if (!grow_to(&in->records, (count + 1) * sizeof(record))) {
        return false;
    }
    record *records = in->records.data;
    records[count] = (record){time_us, (uint64_t)index << OFFSET_BITS | offset};
    in->record_count = count + 1;
    return true;
}

static bool gather_file(input *in, size_t index, progress_function *progress)
{
    log_file *file = &in->files[index];
    log_lines *lines = &file->lines;
    const char *line;
    size_t size;
    while (lines_next(lines, &line, &size)) {
        if (progress && (lines->line & 0xffff) == 0) {
            progress("reading", (double)lines->at / (double)lines->size);
        }
        if (reader_passes_over(&file->reader, line, size)) {
            continue;
        }
        int64_t time_us;
        const char *wrong = reader_time(&file->reader, line, size, &time_us);
        if (wrong) {
            note_skipped(file, wrong);
            continue;
        }
        note_record(in, file, time_us);
        if (!keep_record(in, index, (uint64_t)(line - lines->data), time_us)) {
            return false;
        }
    }
    return true;
}

void input_rewind(input *in)
{
    in->turn = 0;
    if (in->gathered) {
        return;
    }
    in->step = (stamp_step)STAMP_STEP_START;
    for (size_t i = 0; i < in->count; i++) {
        log_file *file = &in->files[i];
        file->lines.at = file->start_at;
        file->lines.line = file->start_line;
        file->records = file->skipped = file->backwards = 0;
        file->backwards_most_us = 0;
    }
}

bool input_gather(input *in, progress_function *progress)
{
    input_rewind(in);
    in->disorder = false;
    for (size_t i = 0; i < in->count; i++) {
        if (in->files[i].told && !gather_file(in, i, progress)) {
            return false;
        }
    }
    in->gathered = true;
    return sort_records(in->records.data, in->record_count);
}

static bool next_in_file(input *in, log_file *file, weir_field *fields, input_record *out)
{
    const char *line;
    size_t size;
    while (lines_next(&file->lines, &line, &size)) {
        if (reader_passes_over(&file->reader, line, size)) {
            continue;
        }
        const char *wrong =
            reader_read(&file->reader, line, size, &out->time_us, fields, &out->count);
        if (wrong) {
            note_skipped(file, wrong);
            continue;
        }
        in->disorder = !in->as_logged && in->step.count > 0 && out->time_us < in->last_us;
        note_record(in, file, out->time_us);
        out->fields = fields;
        out->file = file;
        out->offset = file->lines.line;
        return !in->disorder;
    }
    if (file->lines.error[0]) {
        snprintf(file->error, sizeof file->error, "%s", file->lines.error);
    }
    return false;
}

static bool next_gathered(input *in, weir_field *fields, input_record *out)
{
    if (in->turn == in->record_count) {
        return false;
    }
    const record *next = (const record *)in->records.data + in->turn++;
    log_file *file = &in->files[next->where >> OFFSET_BITS];
    out->offset = next->where & OFFSET_MASK;
    out->time_us = next->time_us;
    out->file = file;
    out->fields = fields;

    const char *line = file->lines.data + out->offset;
    size_t left = file->lines.size - out->offset;
    const char *end = memchr(line, '\n', left);
    size_t size = end ? (size_t)(end - line) : left;
    if (size > 0 && line[size - 1] == '\r') {
        size--;
    }
    out->count = reader_fields(&file->reader, line, size, fields);
    return true;
}

bool input_next(input *in, weir_field *fields, input_record *out)
{
    if (in->gathered) {
        return next_gathered(in, fields, out);
    }
    for (; in->turn < in->count; in->turn++) {
        log_file *file = &in->files[in->turn];
        if (file->told && next_in_file(in, file, fields, out)) {
            return true;
        }
        if (in->disorder) {
            return false;
        }
    }
    return false;
}

double input_part(const input *in)
{
    if (in->gathered) {
        return in->record_count ? (double)in->turn / (double)in->record_count : 1;
    }
    const log_lines *lines = in->turn < in->count ? &in->files[in->turn].lines : NULL;
    double within =
        lines && lines->size > 0 && lines->kept ? (double)lines->at / (double)lines->size : 0;
    return ((double)in->turn + within) / (double)in->count;
}

uint64_t input_line_number(const input *in, const input_record *from)
{
    if (!in->gathered) {
        return from->offset;
    }
    uint64_t number = 1;
    const char *at = from->file->lines.data, *end = at + from->offset;
    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        number++;
        at++;
    }
    return number;
}

uint64_t input_skipped(const input *in)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < in->count; i++) {
        sum += in->files[i].skipped;
    }
    return sum;
}
