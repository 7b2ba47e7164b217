// hiredis parses; these callbacks keep what it finds, and allocate nothing.

#include "store/redis/reply.h"

#include <hiredis.h>
#include <string.h>

#define PARTIAL_MAX ((size_t)64 << 10) // far beyond any reply to weir

#if HIREDIS_MAJOR == 0
typedef int element_count;
#else
typedef size_t element_count;
#endif

static weir_reply *reply_of(const redisReadTask *task)
{
    return task->privdata;
}

static void *on_array(const redisReadTask *task, element_count count)
{
    weir_reply *reply = reply_of(task);
    if (task->type != REDIS_REPLY_ARRAY || task->parent != NULL ||
        (size_t)count > WEIR_REPLY_NUMBERS) {
        return NULL; // stops the parser: no answer looks like that
    }
    reply->kind = WEIR_REPLY_LIST;
    reply->count = (size_t)count;
    reply->got = 0;
    return reply;
}

static void *on_integer(const redisReadTask *task, long long value)
{
    weir_reply *reply = reply_of(task);
    if (task->parent == NULL) {
        reply->kind = WEIR_REPLY_NUMBER;
        reply->count = 1;
        reply->numbers[0] = value;
    } else {
        reply->numbers[task->idx] = value;
        reply->got++;
    }
    return reply;
}

static void *on_string(const redisReadTask *task, char *text, size_t size)
{
    weir_reply *reply = reply_of(task);
    if (task->parent != NULL) {
        return reply; // leaves the list short of a number
    }
    reply->kind = task->type == REDIS_REPLY_ERROR ? WEIR_REPLY_ERROR : WEIR_REPLY_TEXT;
    const size_t kept = size < sizeof reply->text - 1 ? size : sizeof reply->text - 1;
    memcpy(reply->text, text, kept);
    reply->text[kept] = '\0';
    return reply;
}

static void *on_nil(const redisReadTask *task)
{
    weir_reply *reply = reply_of(task);
    if (task->parent == NULL) {
        reply->kind = WEIR_REPLY_OTHER;
    }
    return reply;
}

static void on_free(void *object)
{
    (void)object;
}

redisReader *weir_reader_open(weir_reply *reply)
{
    static redisReplyObjectFunctions functions = {
        .createString = on_string,
        .createArray = on_array,
        .createInteger = on_integer,
        .createNil = on_nil,
        .freeObject = on_free,
    };
    redisReader *reader = redisReaderCreateWithFunctions(&functions);
    if (reader != NULL) {
        reader->privdata = reply;
    }
    return reader;
}

weir_read weir_reader_next(redisReader *reader, weir_reply *reply)
{
    void *object = NULL;
    if (redisReaderGetReply(reader, &object) != REDIS_OK) {
        return WEIR_READ_WRONG;
    }
    if (object == reply) {
        if (reply->kind == WEIR_REPLY_LIST && reply->got != reply->count) {
            reply->kind = WEIR_REPLY_OTHER;
        }
        return WEIR_READ_REPLY;
    }
    if (object != NULL && reader->privdata == NULL) {
        reply->whole = object;
        return WEIR_READ_REPLY;
    }
    if (object != NULL || reader->len - reader->pos > PARTIAL_MAX) {
        return WEIR_READ_WRONG;
    }
    return WEIR_READ_MORE;
}

bool weir_reader_has_more(const redisReader *reader)
{
    return reader->pos < reader->len;
}
