// One reply, flat: what weir asks for is numbers, a list of numbers, a text or an error.

#ifndef WEIR_SRC_REDIS_REPLY_H
#define WEIR_SRC_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/store.h"

struct redisReader;
struct redisReply;

#define WEIR_REPLY_NUMBERS (2 + 6 * WEIR_CHECKS_MAX + 62) // replies may grow at their end

typedef enum weir_reply_kind {
    WEIR_REPLY_OTHER, // nothing that weir knows, or more numbers than there can be
    WEIR_REPLY_NUMBER,
    WEIR_REPLY_LIST, // of numbers
    WEIR_REPLY_TEXT,
    WEIR_REPLY_ERROR,
} weir_reply_kind;

typedef struct weir_reply {
    weir_reply_kind kind;
    size_t count; // of numbers announced
    size_t got;   // of numbers read
    int64_t numbers[WEIR_REPLY_NUMBERS];
    char text[256]; // cut to fit, ended by a NUL
    struct redisReply
        *whole; // of any other parser of hiredis: the reply, which whoever gets it owns
} weir_reply;

// A parser that puts what it reads into the reply, without allocating objects. NULL for want of
// memory.
struct redisReader *weir_reader_open(weir_reply *reply);

typedef enum weir_read {
    WEIR_READ_REPLY,
    WEIR_READ_MORE,  // needs more bytes
    WEIR_READ_WRONG, // not the protocol, or a reply larger than any that weir asks for
} weir_read;

// The next reply among the bytes that were fed.
weir_read weir_reader_next(struct redisReader *reader, weir_reply *reply);

// Whether there are bytes that no reply has used.
bool weir_reader_has_more(const struct redisReader *reader);

#endif
