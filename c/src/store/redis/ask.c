// One command on a pooled connection, whose parser is changed for one that keeps whole replies.

#include "store/redis/ask.h"

#include <hiredis.h>

#include "error.h"
#include "store/redis/backoff.h"
#include "store/redis/pool.h"
#include "store/redis/refusal.h"

const weir_settings *weir_redis_settings(weir_store *store)
{
    return weir_redis_pool(store)->settings;
}

static void on_reply(void *context, const weir_reply *reply)
{
    redisReply **out = context;
    *out = reply->whole;
}

static weir_exchange exchange(weir_connection *connection, const weir_word *words, size_t count,
                              int64_t deadline_us, redisReply **out)
{
    redisReader *flat = connection->reader, *whole = redisReaderCreate();
    weir_buffer *buffer = &connection->out;
    buffer->size = 0;
    buffer->failed = false;
    weir_command_begin(buffer, count);
    for (size_t i = 0; i < count; i++) {
        weir_command_word(buffer, words[i].data, words[i].size);
    }
    weir_exchange outcome = WEIR_EXCHANGE_CLOSED; // for want of memory, too
    if (whole != NULL && !buffer->failed) {
        size_t sent;
        connection->reader = whole;
        outcome = weir_connection_exchange(connection, 1, on_reply, out, deadline_us, &sent);
        connection->reader = flat;
    }
    if (whole != NULL) {
        redisReaderFree(whole);
    }
    return outcome;
}

// Waits for a server that will soon take connections, as every call does.
static weir_status acquire(weir_pool *pool, int64_t deadline_us, weir_connection **out,
                           weir_error *error)
{
    int64_t wait_us = WEIR_BACKOFF_FIRST_US;
    for (;;) {
        bool again;
        const weir_status status = weir_pool_acquire(pool, deadline_us, out, &again, error);
        if (status == WEIR_OK || !again || !weir_backoff(&wait_us, deadline_us)) {
            return status;
        }
    }
}

weir_status weir_redis_ask(weir_store *store, const weir_word *words, size_t count,
                           redisReply **out, weir_error *error)
{
    weir_pool *pool = weir_redis_pool(store);
    const char *address = pool->settings->address;
    const int64_t deadline_us = weir_monotonic_us() + pool->settings->deadline_us;
    weir_connection *connection;
    weir_status status = acquire(pool, deadline_us, &connection, error);
    if (status != WEIR_OK) {
        return status;
    }
    redisReply *reply = NULL;
    const weir_exchange outcome = exchange(connection, words, count, deadline_us, &reply);
    weir_pool_release(pool, connection, outcome == WEIR_EXCHANGE_DONE);
    if (outcome == WEIR_EXCHANGE_DONE && reply->type != REDIS_REPLY_ERROR) {
        *out = reply;
        return WEIR_OK;
    }
    switch (outcome) {
    case WEIR_EXCHANGE_DONE: {
        const weir_refusal *refusal = weir_refusal_of(reply->str);
        // The sentences of the other errors are as good here; this one is about a script.
        const char *sentence =
            refusal->status == WEIR_PROTOCOL ? "the server would not do it" : refusal->sentence;
        status = weir_fail(error, refusal->status, "redis at %s: %s. It said: %.200s", address,
                           sentence, reply->str);
        break;
    }
    case WEIR_EXCHANGE_LATE:
        status = weir_fail(error, WEIR_INDETERMINATE, "redis at %s: no answer came by the deadline",
                           address);
        break;
    case WEIR_EXCHANGE_CLOSED:
        status = weir_fail(error, WEIR_INDETERMINATE,
                           "redis at %s: the connection broke before the answer", address);
        break;
    case WEIR_EXCHANGE_WRONG:
        status =
            weir_fail(error, WEIR_PROTOCOL, "redis at %s: what came back is not a reply", address);
        break;
    }
    if (reply != NULL) {
        freeReplyObject(reply);
    }
    return status;
}
