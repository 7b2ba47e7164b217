// Asks the server anything, and hands over the whole reply: for the tool, which inspects and
// audits.

#ifndef WEIR_SRC_REDIS_ASK_H
#define WEIR_SRC_REDIS_ASK_H

#include "store/redis/settings.h"

struct redisReply;
struct weir_pool;

typedef struct weir_word {
    const void *data;
    size_t size;
} weir_word;

// Sends one command, once, on a connection of the store's. The reply is never an error, and is the
// caller's to give to freeReplyObject. A server's error is the status that it has for any call,
// with its words in the sentence.
weir_status weir_redis_ask(weir_store *store, const weir_word *words, size_t count,
                           struct redisReply **out, weir_error *error);

// What the store was opened with. Lives as long as the store.
const weir_settings *weir_redis_settings(weir_store *store);

// The connections of a Redis store.
struct weir_pool *weir_redis_pool(weir_store *store);

#endif
