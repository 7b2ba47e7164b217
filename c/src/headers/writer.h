// Text that is written piece by piece into a room that may turn out too small.

#ifndef WEIR_SRC_HEADERS_WRITER_H
#define WEIR_SRC_HEADERS_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct writer {
    char *out;
    size_t room;
    size_t used;
    bool full; // something did not fit, so all of it is worth nothing
} writer;

static inline void write_bytes(writer *w, const char *bytes, size_t size)
{
    if (size > w->room - w->used) {
        w->full = true;
        return;
    }
    memcpy(w->out + w->used, bytes, size);
    w->used += size;
}

static inline void write_text(writer *w, const char *text)
{
    write_bytes(w, text, strlen(text));
}

static inline void write_end(writer *w)
{
    write_bytes(w, "", 1);
}

static inline void write_whole(writer *w, int64_t value)
{
    char digits[20];
    size_t start = sizeof digits;
    uint64_t rest = (uint64_t)value;
    do {
        digits[--start] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    write_bytes(w, digits + start, sizeof digits - start);
}

// A string of RFC 9651 and one of JSON alike: of printable ASCII both escape these two, and so.
static inline void write_quoted(writer *w, const char *printable)
{
    write_text(w, "\"");
    for (const char *c = printable; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            write_text(w, "\\");
        }
        write_bytes(w, c, 1);
    }
    write_text(w, "\"");
}

// RFC 4648, 4, with its padding.
static inline void write_base64(writer *w, const void *bytes, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    for (size_t i = 0; i < size && !w->full; i += 3) {
        const size_t left = size - i;
        const uint32_t three = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                               (left > 2 ? in[i + 2] : 0);
        const char four[4] = {letters[three >> 18], letters[three >> 12 & 63],
                              left > 1 ? letters[three >> 6 & 63] : '=',
                              left > 2 ? letters[three & 63] : '='};
        write_bytes(w, four, sizeof four);
    }
}

#endif
