// weir inspect: what a server keeps for one key, and what it comes to.

#include <hiredis.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/duration.h>
#include <weir/key.h>
#include <weir/redis.h>

#include "command.h"
#include "decision.h"
#include "store/check_words.h"
#include "store/mapping.h"
#include "store/redis/ask.h"
#include "text.h"

#define SHOWN_MAX  20 // entries of a log or leases
#define STATE_TEXT 200

typedef struct kept {
    char name[WEIR_KEY_ROOM];
    char type[24];
    int64_t ttl_ms;      // -1: for ever. -2: the key is not there
    redisReply *entries; // of a list or sorted set, the first; or the one string; NULL: not shown
    int64_t count;       // how many there are
} kept;

// How the entries of each type are read.
static const struct {
    const char *type, *count, *read;
} readers[] = {{"string", NULL, "GET"}, {"list", "LLEN", "LRANGE"}, {"zset", "ZCARD", "ZRANGE"}};

static weir_status ask(weir_store *store, const char *verb, const char *key, bool range,
                       redisReply **out, weir_error *error)
{
    char last[8];
    snprintf(last, sizeof last, "%d", SHOWN_MAX - 1);
    const bool scores = strcmp(verb, "ZRANGE") == 0;
    const weir_word words[] = {{verb, strlen(verb)},
                               {key, strlen(key)},
                               {"0", 1},
                               {last, strlen(last)},
                               {"WITHSCORES", 10}};
    return weir_redis_ask(store, words, range ? scores ? 5 : 4 : 2, out, error);
}

static weir_status read_entries(weir_store *store, kept *k, weir_error *error)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (strcmp(readers[i].type, k->type) != 0) {
            continue;
        }
        weir_status status = WEIR_OK;
        k->count = 1;
        if (readers[i].count) {
            redisReply *count;
            status = ask(store, readers[i].count, k->name, false, &count, error);
            if (status == WEIR_OK) {
                k->count = count->integer;
                freeReplyObject(count);
            }
        }
        return status == WEIR_OK ? ask(store, readers[i].read, k->name, readers[i].count != NULL,
                                       &k->entries, error)
                                 : status;
    }
    return WEIR_OK;
}

static weir_status read_kept(weir_store *store, const weir_check *check, kept *k, weir_error *error)
{
    redisReply *reply;
    *k = (kept){0};
    weir_check_key(check, k->name);
    weir_status status = ask(store, "TYPE", k->name, false, &reply, error);
    if (status != WEIR_OK) {
        return status;
    }
    snprintf(k->type, sizeof k->type, "%s", reply->str ? reply->str : "");
    freeReplyObject(reply);
    status = ask(store, "PTTL", k->name, false, &reply, error);
    if (status != WEIR_OK) {
        return status;
    }
    k->ttl_ms = reply->integer;
    freeReplyObject(reply);
    return read_entries(store, k, error);
}

// The state's texts, in turn; NULL after the last.
static const redisReply *entry(const kept *k, size_t index)
{
    const redisReply *all = k->entries;
    if (!all || all->type == REDIS_REPLY_NIL) {
        return NULL;
    }
    if (all->type != REDIS_REPLY_ARRAY) {
        return index == 0 ? all : NULL;
    }
    return index < all->elements ? all->element[index] : NULL;
}

static void print_kept(const kept *k)
{
    char text[STATE_TEXT], ttl[WEIR_DURATION_TEXT];
    printf("key    %s\n", k->name);
    if (k->ttl_ms == -2) {
        puts("type   none: nothing is recorded");
        return;
    }
    printf("type   %s\n", text_escape(k->type, strlen(k->type), text, sizeof text));
    printf("ttl    %s\n", k->ttl_ms < 0 ? "none: the key stays for ever, and weir did not write it"
                                        : weir_duration_format(k->ttl_ms * 1000, ttl));
    if (!k->entries) {
        puts("state  not shown: no algorithm of weir keeps this type");
        return;
    }
    const bool pairs = strcmp(k->type, "zset") == 0;
    const redisReply *e;
    for (size_t i = 0; (e = entry(k, i)); i += pairs ? 2 : 1) {
        printf("%s%s", i == 0 ? "state  " : "       ",
               text_escape(e->str, e->len, text, sizeof text));
        const redisReply *score = pairs ? entry(k, i + 1) : NULL;
        printf("%s%s\n", score ? "  " : "", score ? score->str : "");
    }
    if (k->count > SHOWN_MAX) {
        printf("       and %" PRId64 " more\n", k->count - SHOWN_MAX);
    }
}

static json_t *kept_json(const kept *k)
{
    char text[STATE_TEXT];
    json_t *state = json_array();
    const redisReply *e;
    for (size_t i = 0; (e = entry(k, i)); i++) {
        json_array_append_new(state, json_string(text_escape(e->str, e->len, text, sizeof text)));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:o}", "redis_key", k->name, "type", k->type, "ttl_ms",
                     (json_int_t)k->ttl_ms, "entries", (json_int_t)k->count, "state", state);
}

static void print_peek(const check_words *words, const kept *k, const weir_decision *peek)
{
    if (words->json) {
        json_t *whole = kept_json(k);
        json_object_set_new(whole, "peek",
                            peek ? decision_row_json(&words->check, peek) : json_null());
        json_dumpf(whole, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(whole);
        return;
    }
    print_kept(k);
    if (peek) {
        putchar('\n');
        table t;
        decision_table_open(&t);
        decision_table_row(&t, &words->check, false, peek);
        table_print(&t);
    }
}

int command_inspect(int argc, char **argv)
{
    check_words words;
    int status =
        check_words_read(&words, argc, argv, true,
                         "Shows the key's name in Redis, its type, TTL and raw state, and "
                         "what peek says of it.\nIt needs the right to TYPE and PTTL, too. "
                         "Exits with 0 when the state could be read.");
    if (status != EXIT_FINE) {
        return status == OPTIONS_HELP ? EXIT_FINE : status;
    }
    if (mapping_is(words.store)) {
        complain("inspect: shared memory keeps no names of keys; weir peek says what it decides");
        weir_store_close(words.store);
        return EXIT_MISUSE;
    }
    kept k;
    weir_decision peek;
    weir_error error = {0};
    if (read_kept(words.store, &words.check, &k, &error) != WEIR_OK) {
        complain("inspect: %s", error.message);
        status = EXIT_MISUSE;
    } else {
        bool peeked =
            weir_store_peek(words.store, &words.check, words.now_us, &peek, &error) == WEIR_OK &&
            peek.source == WEIR_SOURCE_STORE;
        print_peek(&words, &k, peeked ? &peek : NULL);
        if (!peeked) {
            complain("inspect: %s", error.message);
            status = EXIT_MISUSE;
        }
    }
    if (k.entries) {
        freeReplyObject(k.entries);
    }
    weir_store_close(words.store);
    return status;
}
