// Writes commands: an array of strings, each with its size before it.

#include "store/redis/command.h"

#include <stdlib.h>

#define DIGITS_MAX 20 // of an int64_t with its sign

void weir_buffer_free(weir_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (weir_buffer){0};
}

// Where `size` more bytes may be written, or NULL.
static char *reserve(weir_buffer *buffer, size_t size)
{
    if (buffer->failed) {
        return NULL;
    }
    if (buffer->room - buffer->size < size) {
        const size_t room = (buffer->size + size) * 2 + 512;
        char *bytes = realloc(buffer->bytes, room);
        if (bytes == NULL) {
            buffer->failed = true;
            return NULL;
        }
        buffer->bytes = bytes;
        buffer->room = room;
    }
    return buffer->bytes + buffer->size;
}

// The digits of a number, right-aligned in out; returns where they start.
static char *digits(char out[DIGITS_MAX], int64_t number)
{
    char *at = out + DIGITS_MAX;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0) {
        *--at = '-';
    }
    return at;
}

// *3 or $3, and the end of line.
static char *put_size(char *at, char kind, size_t size)
{
    char text[DIGITS_MAX];
    const char *start = digits(text, (int64_t)size);
    const size_t count = (size_t)(text + DIGITS_MAX - start);
    *at++ = kind;
    memcpy(at, start, count);
    at += count;
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

void weir_command_begin(weir_buffer *buffer, size_t words)
{
    char *at = reserve(buffer, DIGITS_MAX + 3);
    if (at != NULL) {
        buffer->size = (size_t)(put_size(at, '*', words) - buffer->bytes);
    }
}

void weir_command_word(weir_buffer *buffer, const void *data, size_t size)
{
    char *at = reserve(buffer, DIGITS_MAX + 5 + size);
    if (at == NULL) {
        return;
    }
    at = put_size(at, '$', size);
    if (size > 0) {
        memcpy(at, data, size);
        at += size;
    }
    *at++ = '\r';
    *at++ = '\n';
    buffer->size = (size_t)(at - buffer->bytes);
}

void weir_command_number(weir_buffer *buffer, int64_t number)
{
    char text[DIGITS_MAX];
    const char *start = digits(text, number);
    weir_command_word(buffer, start, (size_t)(text + DIGITS_MAX - start));
}
