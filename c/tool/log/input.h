// input.h: the logs of one replay as one stream of records: sorted by time, or as they were logged.

#ifndef WEIR_TOOL_INPUT_H
#define WEIR_TOOL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grow.h"
#include "log/lines.h"
#include "log/reader.h"
#include "progress.h"

typedef struct log_file {
    const char *path;
    log_lines lines;
    log_reader reader;
    bool told;       // its format is known
    char error[480]; // a half sentence: why it, or the rest of it, could not be read
    uint64_t records;
    uint64_t skipped;
    uint64_t skipped_line; // the first one's number, counted from 1
    const char *skipped_reason;
    uint64_t backwards; // stamps before the one on the line above
    int64_t backwards_most_us;
    int64_t last_us;
    size_t start_at; // where the first line after the header starts, and how many were before
    uint64_t start_line;
} log_file;

// All that is kept of a record; the line is read again when its turn comes.
typedef struct record {
    int64_t time_us;
    uint64_t where; // file index << 48 | offset of its line
} record;

typedef struct input {
    log_file *files;
    size_t count;
    const char *time_name; // NULL: found
    bool as_logged;

    // Read in the order of the logs, until a record turns out to stand before an earlier one; then
    // all are gathered, sorted by time, and read in that order.
    bool gathered;
    bool disorder;
    grow records;
    size_t record_count;

    size_t turn; // the next record, or in the order of the logs the current file

    stamp_step step;
    int64_t first_us, last_us; // the earliest and the latest
} input;

// One record when its turn comes. The fields are good until the next.
typedef struct input_record {
    int64_t time_us;
    const weir_field *fields;
    size_t count;
    const log_file *file;
    uint64_t offset; // of the line in its file; in the order of the logs, its number
} input_record;

// Opens the logs and tells their formats; what can't be read says so in its file. Close it in any
// case. False: no memory.
bool input_open(input *in, char *const *paths, size_t count, const char *time_name, bool as_logged,
                progress_function *progress);
void input_close(input *in);

// The next record. `fields` is the caller's room for READER_FIELDS_MAX. False at the end; or, when
// `disorder` says so, because the records are not in the order of time: call input_gather and start
// over. That is seldom, or soon: a log that is unsorted shows it in its first lines.
bool input_next(input *in, weir_field *fields, input_record *out);

// Reads every log for its times and sorts the records, those of one time as they stood. The next
// record is the first. False: no memory.
bool input_gather(input *in, progress_function *progress);

// Starts over with the first record; not for records as logged.
void input_rewind(input *in);

// How much of the input has had its turn, 0 to 1; of a pipe, which does not say how long it is, 0.
double input_part(const input *in);

// The number of the record's line, counted from 1.
uint64_t input_line_number(const input *in, const input_record *from);

// The lines of all logs that were no records.
uint64_t input_skipped(const input *in);

#endif
