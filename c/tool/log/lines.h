// lines.h: the bytes of a log as lines: a plain file, gzip, or the standard input.

#ifndef WEIR_TOOL_LINES_H
#define WEIR_TOOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grow.h"
#include "progress.h"

typedef struct lines_feed lines_feed;

typedef struct log_lines {
    const char *path; // as given; "-" is the standard input. Kept
    const char *data; // the bytes at hand
    size_t size;
    size_t at;       // where the next line starts
    uint64_t line;   // how many lines were given
    bool ended;      // nothing follows what is at hand
    bool compressed; // it was gzip
    bool kept;       // all bytes stay at hand, so that pointers stay good
    char error[256]; // why the rest could not be read; empty when it could

    int fd;
    size_t file_bytes; // 0: it is a stream
    void *map;         // a plain file is mapped whole
    grow buffer;
    lines_feed *feed;
} log_lines;

// How much of a log is looked at to tell its format.
#define LINES_SAMPLE ((size_t)64 << 10)

// Opens a log with at least LINES_SAMPLE bytes, or all of it, at hand. False: error says why.
// Close it in any case.
bool lines_open(log_lines *lines, const char *path);
void lines_close(log_lines *lines);

// Brings all bytes to hand and keeps them there: offsets into data stay good. What could not be
// read is told by error, and the rest is there.
void lines_load(log_lines *lines, progress_function *progress);

// Brings more bytes to hand; unless all are kept, those before `at` are dropped. False at the end.
bool lines_more(log_lines *lines);

// The next line without its end, \n or \r\n; the last may lack one. The pointer is good until the
// next call, or until close once all is loaded. False at the end.
static inline bool lines_next(log_lines *lines, const char **out, size_t *out_size)
{
    for (;;) {
        const char *start = lines->data + lines->at;
        size_t left = lines->size - lines->at;
        const char *end = left ? memchr(start, '\n', left) : NULL;
        if (!end && !lines->ended) {
            lines_more(lines);
            continue;
        }
        if (left == 0) {
            return false;
        }
        size_t size = end ? (size_t)(end - start) : left;
        lines->at += size + (end != NULL);
        lines->line++;
        if (size > 0 && start[size - 1] == '\r') {
            size--;
        }
        *out = start;
        *out_size = size;
        return true;
    }
}

#endif
