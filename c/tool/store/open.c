// open: looks at the URL first, for what it leaves to the tool.

#include "store/open.h"

#include <hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/redis.h>

#include "store/apart.h"
#include "store/mapping.h"
#include "store/redis/ask.h"

#define DEADLINE_US (5 * WEIR_SECOND)

static const char *given(const char *url)
{
    return url ? url : getenv("WEIR_STORE");
}

weir_status store_open(const char *url, weir_store **out, weir_error *error)
{
    url = given(url);
    if (!url || !url[0]) {
        snprintf(error->message, sizeof error->message,
                 "a store must be given by its URL, such as redis://127.0.0.1:6379; WEIR_STORE of "
                 "the environment does as well");
        return error->status = WEIR_INVALID;
    }
    weir_settings said = {0};
    weir_status status = weir_url_parse(&said, url, error);
    if (status == WEIR_OK) {
        const weir_redis_options options = {.url = url,
                                            .name = said.name[0] ? NULL : "weir-tool",
                                            .deadline_us = said.deadline_us ? 0 : DEADLINE_US};
        status = weir_redis_open(out, &options, error);
    }
    explicit_bzero(&said, sizeof said);
    return status;
}

weir_status store_open_any(const char *url, weir_store **out, weir_error *error)
{
    mapping m;
    url = given(url);
    return url && mapping_of_url(url, &m) ? mapping_open(&m, out, error)
                                          : store_open(url, out, error);
}

static weir_status check_alone(weir_store *store, weir_error *error)
{
    if (weir_redis_settings(store)->on_error != WEIR_ON_ERROR_FAIL) {
        snprintf(error->message, sizeof error->message,
                 "on_error was given; here every answer must be the server's own, so leave it out");
        return error->status = WEIR_INVALID;
    }
    redisReply *reply;
    weir_status status = weir_redis_ask(store, &(weir_word){"PING", 4}, 1, &reply, error);
    if (status == WEIR_OK) {
        freeReplyObject(reply);
    }
    return status == WEIR_NOT_PERMITTED ? WEIR_OK : status; // it answers
}

weir_status store_open_apart(const char *url, const char *purpose, weir_store **out,
                             weir_error *error)
{
    weir_store *store;
    weir_status status = store_open(url, &store, error);
    if (status != WEIR_OK) {
        return status;
    }
    status = check_alone(store, error);
    if (status != WEIR_OK) {
        weir_store_close(store);
        return status;
    }
    *out = store_apart(store, purpose);
    if (!*out) {
        snprintf(error->message, sizeof error->message, "there is no memory for a store");
        return error->status = WEIR_NO_MEMORY;
    }
    return WEIR_OK;
}

bool store_is_away(weir_status status)
{
    return status <= WEIR_INDETERMINATE && status != WEIR_PROTOCOL && status != WEIR_CROSS_SLOT;
}
