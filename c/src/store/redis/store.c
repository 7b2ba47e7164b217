// Limits kept in a Redis server: the verbs of a store, and what stands in when it can't be asked.

#include "weir/redis.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/redis/ask.h"
#include "store/redis/call.h"
#include "store/redis/deadline.h"
#include "store/tag.h"

typedef struct redis_store {
    weir_store base;
    weir_settings settings;
    weir_pool pool;
    const weir_script *scripts[WEIR_CONCURRENCY + 1]; // by algorithm; 0: all
} redis_store;

#define DENIED_RETRY_US WEIR_SECOND

// Whether the failure is only that the server can't be asked now. All else wants a person, and is
// an error whatever was chosen.
static bool is_outage(weir_status status)
{
    switch (status) {
    case WEIR_INDETERMINATE:
    case WEIR_NOT_EXECUTED:
    case WEIR_LOADING:
    case WEIR_BUSY:
    case WEIR_READONLY:
    case WEIR_SERVER_FULL:
        return true;
    default:
        return false;
    }
}

static bool stands_in(const redis_store *s, weir_status status)
{
    return s->settings.on_error != WEIR_ON_ERROR_FAIL && is_outage(status);
}

static void stand_in(const redis_store *s, int64_t limit, weir_decision *out)
{
    const bool allow = s->settings.on_error == WEIR_ON_ERROR_ALLOW;
    *out = (weir_decision){
        .allowed = allow,
        .limit = limit,
        .retry_after_us = allow ? 0 : DENIED_RETRY_US,
        .source = allow ? WEIR_SOURCE_ALLOW_ON_ERROR : WEIR_SOURCE_DENY_ON_ERROR,
    };
}

static int64_t deadline_of(const redis_store *s)
{
    return weir_monotonic_us() + s->settings.deadline_us;
}

static weir_call call_of(const redis_store *s, weir_verb verb, const weir_check *check,
                         int64_t now_us, weir_decision *out)
{
    return (weir_call){
        .kind = WEIR_CALL_ONE,
        .verb = verb,
        .checks = check,
        .count = 1,
        .now_us = now_us,
        .out = out,
        .script = s->scripts[check->limit->algorithm],
    };
}

static weir_status redis_step(weir_store *store, weir_verb verb, const weir_check *check,
                              int64_t now_us, weir_decision *out, weir_error *error)
{
    redis_store *s = (redis_store *)store;
    weir_call call = call_of(s, verb, check, now_us, out);
    const weir_status status = weir_calls_run(&s->pool, &call, 1, deadline_of(s), error);
    if ((verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK) && stands_in(s, status)) {
        stand_in(s, check->limit->most, out);
        return WEIR_OK;
    }
    return status;
}

static weir_status redis_take(weir_store *store, const weir_check *check, int64_t now_us,
                              weir_decision *out, weir_error *error)
{
    return redis_step(store, WEIR_VERB_TAKE, check, now_us, out, error);
}

static bool same_key(const weir_check *a, const weir_check *b)
{
    return a->limit->algorithm == b->limit->algorithm && a->key_size == b->key_size &&
           memcmp(a->key, b->key, a->key_size) == 0 && strcmp(a->limit->name, b->limit->name) == 0;
}

static bool same_tag(const weir_check *a, const weir_check *b)
{
    size_t one_size, two_size;
    const void *one = weir_tag_of(a, &one_size), *two = weir_tag_of(b, &two_size);
    return one_size == two_size && memcmp(one, two, one_size) == 0;
}

static weir_status check_list(const redis_store *s, const weir_check *checks, size_t count,
                              weir_error *error)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (same_key(&checks[k], &checks[i])) {
                return weir_fail(
                    error, WEIR_INVALID,
                    "limit \"%s\" and the same key stand twice in the list, at %zu and "
                    "%zu; give one check with the whole cost",
                    checks[i].limit->name, k, i);
            }
        }
        if (s->settings.cluster && !same_tag(&checks[0], &checks[i])) {
            return weir_fail(error, WEIR_CROSS_SLOT,
                             "limits \"%s\" and \"%s\" of one list have different tags, so their "
                             "keys may live on different nodes; give the checks one tag",
                             checks[0].limit->name, checks[i].limit->name);
        }
    }
    return WEIR_OK;
}

static weir_status redis_take_all(weir_store *store, const weir_check *checks, size_t count,
                                  int64_t now_us, weir_decision *out, weir_decision *rows,
                                  weir_error *error)
{
    redis_store *s = (redis_store *)store;
    weir_status status = check_list(s, checks, count, error);
    if (status != WEIR_OK) {
        return status;
    }
    weir_decision own[WEIR_CHECKS_MAX];
    rows = rows != NULL ? rows : own;
    weir_call call = call_of(s, WEIR_VERB_TAKE, checks, now_us, out);
    if (count > 1) { // a list of one is an ordinary take
        call.kind = WEIR_CALL_ALL;
        call.count = count;
        call.rows = rows;
        call.script = s->scripts[0];
    }
    status = weir_calls_run(&s->pool, &call, 1, deadline_of(s), error);
    if (stands_in(s, status)) {
        for (size_t i = 0; i < count; i++) {
            stand_in(s, checks[i].limit->most, &rows[i]);
        }
        weir_decision_join(out, rows, count);
        return WEIR_OK;
    }
    if (status == WEIR_OK && count == 1) {
        rows[0] = *out;
    }
    return status;
}

// One pipeline of at most WEIR_CALLS_MAX checks. `first` is the first failure so far.
static weir_status take_some(redis_store *s, const weir_check *checks, size_t count, int64_t now_us,
                             int64_t deadline_us, weir_decision *rows, weir_status first,
                             weir_error *error)
{
    weir_call calls[WEIR_CALLS_MAX];
    size_t places[WEIR_CALLS_MAX]; // whose check a call is
    size_t called = 0;
    for (size_t i = 0; i < count; i++) {
        rows[i].status = weir_check_validate(&checks[i], WEIR_VERB_TAKE, first ? NULL : error);
        if (rows[i].status == WEIR_OK) {
            places[called] = i;
            calls[called++] = call_of(s, WEIR_VERB_TAKE, &checks[i], now_us, &rows[i]);
        } else if (first == WEIR_OK) {
            first = rows[i].status;
        }
    }
    weir_calls_run(&s->pool, calls, called, deadline_us, first ? NULL : error);
    for (size_t i = 0; i < called; i++) {
        weir_decision *row = &rows[places[i]];
        if (stands_in(s, calls[i].status)) {
            stand_in(s, calls[i].checks->limit->most, row);
        } else if (calls[i].status != WEIR_OK) {
            *row = (weir_decision){.status = calls[i].status};
            first = first != WEIR_OK ? first : calls[i].status;
        }
    }
    return first;
}

static weir_status redis_take_many(weir_store *store, const weir_check *checks, size_t count,
                                   int64_t now_us, weir_decision *rows, weir_error *error)
{
    redis_store *s = (redis_store *)store;
    const int64_t deadline_us = deadline_of(s);
    weir_status first = WEIR_OK;
    for (size_t at = 0; at < count; at += WEIR_CALLS_MAX) {
        const size_t some = count - at < WEIR_CALLS_MAX ? count - at : WEIR_CALLS_MAX;
        first = take_some(s, checks + at, some, now_us, deadline_us, rows + at, first, error);
    }
    return first;
}

static weir_status redis_reset(weir_store *store, const weir_check *check, weir_error *error)
{
    redis_store *s = (redis_store *)store;
    weir_call call = {.kind = WEIR_CALL_RESET, .checks = check, .count = 1};
    return weir_calls_run(&s->pool, &call, 1, deadline_of(s), error);
}

static int64_t redis_now_us(weir_store *store)
{
    (void)store;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * WEIR_SECOND + now.tv_nsec / 1000;
}

static void redis_close(weir_store *store)
{
    redis_store *s = (redis_store *)store;
    weir_pool_close(&s->pool);
    explicit_bzero(&s->settings, sizeof s->settings);
    free(s);
}

static const weir_store_kind redis_kind = {
    .take = redis_take,
    .take_all = redis_take_all,
    .take_many = redis_take_many,
    .step = redis_step,
    .reset = redis_reset,
    .now_us = redis_now_us,
    .close = redis_close,
};

weir_pool *weir_redis_pool(weir_store *store)
{
    return &((redis_store *)store)->pool;
}

static const weir_script *find_script(const char *name)
{
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        if (strcmp(weir_scripts[i].name, name) == 0) {
            return &weir_scripts[i];
        }
    }
    return NULL;
}

weir_status weir_redis_open(weir_store **out, const weir_redis_options *options, weir_error *error)
{
    redis_store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "no memory for a store");
    }
    s->base.kind = &redis_kind;
    weir_status status = weir_settings_init(&s->settings, options, error);
    if (status == WEIR_OK) {
        status = weir_pool_open(&s->pool, &s->settings, error);
    }
    if (status != WEIR_OK) {
        explicit_bzero(&s->settings, sizeof s->settings);
        free(s);
        return status;
    }
    s->scripts[0] = find_script("all");
    for (int i = WEIR_TOKEN_BUCKET; i <= WEIR_CONCURRENCY; i++) {
        s->scripts[i] = find_script(weir_algorithm_name((weir_algorithm)i));
    }
    *out = &s->base;
    return WEIR_OK;
}
