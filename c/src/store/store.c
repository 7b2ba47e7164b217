// The public verbs: arguments are checked here once, behind this they are asserted.

#include "store/store.h"

#include <inttypes.h>

#include "error.h"

static weir_status check_now(int64_t now_us, weir_error *error)
{
    if (now_us >= 0 && now_us <= WEIR_NOW_MAX) {
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_INVALID, "now was %" PRId64 "; it must be from 0 to 2^52", now_us);
}

// What nearly every take looks like, so that the way to the store is short.
static inline bool is_plain(const weir_check *check, int64_t now_us)
{
    const weir_limit *limit = check != NULL ? check->limit : NULL;
    return limit != NULL && limit->algorithm >= WEIR_TOKEN_BUCKET &&
           limit->algorithm < WEIR_CONCURRENCY && check->key != NULL && check->key_size > 0 &&
           (uint64_t)check->cost <= WEIR_COST_MAX && (uint64_t)now_us <= WEIR_NOW_MAX;
}

weir_status weir_store_take(weir_store *store, const weir_check *check, int64_t now_us,
                            weir_decision *out, weir_error *error)
{
    if (is_plain(check, now_us)) {
        return store->kind->take(store, check, now_us, out, error);
    }
    weir_status status = weir_check_validate(check, WEIR_VERB_TAKE, error);
    if (status == WEIR_OK) {
        status = check_now(now_us, error);
    }
    return status == WEIR_OK ? store->kind->take(store, check, now_us, out, error) : status;
}

weir_status weir_store_take_all(weir_store *store, const weir_check *checks, size_t count,
                                int64_t now_us, weir_decision *out, weir_decision *rows,
                                weir_error *error)
{
    if (count == 0 || count > WEIR_CHECKS_MAX) {
        return weir_fail(error, WEIR_INVALID, "checks were %zu; they must be from 1 to %d", count,
                         WEIR_CHECKS_MAX);
    }
    weir_status status = check_now(now_us, error);
    for (size_t i = 0; i < count && status == WEIR_OK; i++) {
        status = weir_check_validate(&checks[i], WEIR_VERB_TAKE, error);
    }
    return status == WEIR_OK ? store->kind->take_all(store, checks, count, now_us, out, rows, error)
                             : status;
}

weir_status weir_store_take_many(weir_store *store, const weir_check *checks, size_t count,
                                 int64_t now_us, weir_decision *rows, weir_error *error)
{
    weir_status status = check_now(now_us, error);
    return status == WEIR_OK ? store->kind->take_many(store, checks, count, now_us, rows, error)
                             : status;
}

static weir_status step(weir_store *store, weir_verb verb, const weir_check *check, int64_t now_us,
                        weir_decision *out, weir_error *error)
{
    weir_status status = weir_check_validate(check, verb, error);
    if (status == WEIR_OK) {
        status = check_now(now_us, error);
    }
    return status == WEIR_OK ? store->kind->step(store, verb, check, now_us, out, error) : status;
}

weir_status weir_store_peek(weir_store *store, const weir_check *check, int64_t now_us,
                            weir_decision *out, weir_error *error)
{
    return step(store, WEIR_VERB_PEEK, check, now_us, out, error);
}

weir_status weir_store_refund(weir_store *store, const weir_check *check, int64_t now_us,
                              weir_decision *out, weir_error *error)
{
    return step(store, WEIR_VERB_REFUND, check, now_us, out, error);
}

weir_status weir_store_charge(weir_store *store, const weir_check *check, int64_t now_us,
                              weir_decision *out, weir_error *error)
{
    return step(store, WEIR_VERB_CHARGE, check, now_us, out, error);
}

static weir_status only_concurrency(const weir_check *check, const char *verb, weir_error *error)
{
    if (check == NULL || check->limit == NULL || check->limit->algorithm == WEIR_CONCURRENCY) {
        return WEIR_OK;
    }
    return weir_fail(error, WEIR_INVALID, "limit \"%s\" is a %s; only concurrency has %s",
                     check->limit->name, weir_algorithm_name(check->limit->algorithm), verb);
}

weir_status weir_store_acquire(weir_store *store, const weir_check *check, int64_t now_us,
                               weir_decision *out, weir_error *error)
{
    weir_status status = only_concurrency(check, "acquire", error);
    return status == WEIR_OK ? weir_store_take(store, check, now_us, out, error) : status;
}

weir_status weir_store_renew(weir_store *store, const weir_check *check, int64_t now_us,
                             weir_decision *out, weir_error *error)
{
    weir_status status = only_concurrency(check, "renew", error);
    return status == WEIR_OK ? step(store, WEIR_VERB_RENEW, check, now_us, out, error) : status;
}

weir_status weir_store_release(weir_store *store, const weir_check *check, int64_t now_us,
                               weir_decision *out, weir_error *error)
{
    weir_status status = only_concurrency(check, "release", error);
    return status == WEIR_OK ? step(store, WEIR_VERB_RELEASE, check, now_us, out, error) : status;
}

weir_status weir_store_reset(weir_store *store, const weir_check *check, weir_error *error)
{
    weir_status status = weir_check_validate(check, WEIR_VERB_PEEK, error);
    return status == WEIR_OK ? store->kind->reset(store, check, error) : status;
}

int64_t weir_store_now_us(weir_store *store)
{
    return store->kind->now_us(store);
}

void weir_store_close(weir_store *store)
{
    if (store != NULL) {
        store->kind->close(store);
    }
}
