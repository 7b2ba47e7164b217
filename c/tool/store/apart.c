// apart: hands each call on with the tag put in, and remembers what to forget.
//
// Only the tool's one thread uses it. Each check that may write is remembered once, by the name
// that it has in Redis.

#include "store/apart.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "store/store.h"

// A check that was recorded: what it takes to reset it.
typedef struct mark {
    weir_limit limit;
    size_t key_size;
    char key[];
} mark;

typedef struct apart {
    weir_store base;
    weir_store *under;
    char tag[48];
    void *marks; // of tsearch
} apart;

static int compare(const void *a, const void *b)
{
    const mark *one = a, *two = b;
    if (one->limit.id != two->limit.id) {
        return one->limit.id < two->limit.id ? -1 : 1;
    }
    if (one->key_size != two->key_size) {
        return one->key_size < two->key_size ? -1 : 1;
    }
    return memcmp(one->key, two->key, one->key_size);
}

// For want of memory the key is left to its TTL.
static void remember(apart *s, const weir_check *check)
{
    mark *new = malloc(sizeof *new + check->key_size);
    if (!new) {
        return;
    }
    new->limit = *check->limit;
    new->key_size = check->key_size;
    memcpy(new->key, check->key, check->key_size);
    mark **found = tsearch(new, &s->marks, compare);
    if (!found || *found != new) {
        free(new);
    }
}

static weir_check tagged(apart *s, const weir_check *check)
{
    weir_check own = *check;
    own.tag = s->tag;
    own.tag_size = strlen(s->tag);
    return own;
}

static weir_status apart_take(weir_store *store, const weir_check *check, int64_t now_us,
                              weir_decision *out, weir_error *error)
{
    apart *s = (apart *)store;
    weir_check own = tagged(s, check);
    remember(s, check);
    return weir_store_take(s->under, &own, now_us, out, error);
}

static weir_status apart_take_all(weir_store *store, const weir_check *checks, size_t count,
                                  int64_t now_us, weir_decision *out, weir_decision *rows,
                                  weir_error *error)
{
    apart *s = (apart *)store;
    weir_check own[WEIR_CHECKS_MAX];
    for (size_t i = 0; i < count; i++) {
        own[i] = tagged(s, &checks[i]);
        remember(s, &checks[i]);
    }
    return weir_store_take_all(s->under, own, count, now_us, out, rows, error);
}

static weir_status apart_take_many(weir_store *store, const weir_check *checks, size_t count,
                                   int64_t now_us, weir_decision *rows, weir_error *error)
{
    weir_status first = WEIR_OK;
    for (size_t i = 0; i < count; i++) {
        weir_status status =
            apart_take(store, &checks[i], now_us, &rows[i], first == WEIR_OK ? error : NULL);
        if (status != WEIR_OK) {
            rows[i] = (weir_decision){.status = status};
        }
        first = first == WEIR_OK ? status : first;
    }
    return first;
}

static weir_status apart_step(weir_store *store, weir_verb verb, const weir_check *check,
                              int64_t now_us, weir_decision *out, weir_error *error)
{
    apart *s = (apart *)store;
    weir_check own = tagged(s, check);
    if (verb != WEIR_VERB_PEEK) {
        remember(s, check);
    }
    return s->under->kind->step(s->under, verb, &own, now_us, out, error);
}

static weir_status apart_reset(weir_store *store, const weir_check *check, weir_error *error)
{
    apart *s = (apart *)store;
    weir_check own = tagged(s, check);
    return weir_store_reset(s->under, &own, error);
}

static int64_t apart_now_us(weir_store *store)
{
    return weir_store_now_us(((apart *)store)->under);
}

static void apart_close(weir_store *store)
{
    apart *s = (apart *)store;
    tdestroy(s->marks, free);
    weir_store_close(s->under);
    free(s);
}

static const weir_store_kind kind = {
    .take = apart_take,
    .take_all = apart_take_all,
    .take_many = apart_take_many,
    .step = apart_step,
    .reset = apart_reset,
    .now_us = apart_now_us,
    .close = apart_close,
};

weir_store *store_apart(weir_store *under, const char *purpose)
{
    apart *s = calloc(1, sizeof *s);
    uint64_t chance[2];
    if (!s || getrandom(chance, sizeof chance, 0) != sizeof chance) {
        free(s);
        weir_store_close(under);
        return NULL;
    }
    s->base.kind = &kind;
    s->under = under;
    snprintf(s->tag, sizeof s->tag, "%s-%08lx%08lx", purpose, (unsigned long)chance[0] & 0xffffffff,
             (unsigned long)chance[1] & 0xffffffff);
    return &s->base;
}

typedef struct clearing {
    apart *store;
    bool failed; // once one could not be forgotten the others won't be either
} clearing;

static void forget(const void *node, VISIT visit, void *context)
{
    clearing *c = context;
    if ((visit != postorder && visit != leaf) || c->failed) {
        return;
    }
    const mark *m = *(mark *const *)node;
    const weir_check check = {.limit = &m->limit, .key = m->key, .key_size = m->key_size};
    c->failed = apart_reset(&c->store->base, &check, NULL) != WEIR_OK;
}

void store_apart_clear(weir_store *store)
{
    apart *s = (apart *)store;
    clearing c = {.store = s};
    twalk_r(s->marks, forget, &c);
    tdestroy(s->marks, free);
    s->marks = NULL;
}
