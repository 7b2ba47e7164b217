// text.h: bytes, numbers and times as people read them.

#ifndef WEIR_TOOL_TEXT_H
#define WEIR_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Printable ASCII as it is, a backslash doubled, any other byte as \xNN: logs are hostile, and a
// terminal obeys what it is shown. Cut with "..." to fit the room, 8 bytes or more. Returns out,
// ended by a NUL.
char *text_escape(const void *bytes, size_t size, char *out, size_t out_size);

// "1,234,567".
#define TEXT_COUNT 32
char *text_count(uint64_t count, char out[TEXT_COUNT]);

// "2.79 %": part of whole with two decimals; a part of nothing is "-".
#define TEXT_PERCENT 24
char *text_percent(uint64_t part, uint64_t whole, char out[TEXT_PERCENT]);

// A span roughly, in its two largest units: "9d 2h", "1m 30s", "250ms".
#define TEXT_SPAN 32
char *text_span(int64_t span_us, char out[TEXT_SPAN]);

// Reads "64MiB", "512KiB", "1GiB" or "65536" into bytes.
bool text_size_parse(const char *text, size_t *out);

// Reads a whole number from 0 to `most`, digits only.
bool text_whole_parse(const char *text, uint64_t most, uint64_t *out);

#endif
