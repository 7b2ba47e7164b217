// What a check must be before a store is asked. Each library that has a store has its own copy.

#include "store/store.h"

#include <inttypes.h>

#include "error.h"

static weir_status check_id(const weir_check *check, weir_verb verb, weir_error *error)
{
    if (verb == WEIR_VERB_REFUND || verb == WEIR_VERB_CHARGE) {
        return weir_fail(error, WEIR_INVALID,
                         "limit \"%s\" is a concurrency limit, which has no %s; release the id",
                         check->limit->name, verb == WEIR_VERB_REFUND ? "refund" : "charge");
    }
    if (verb == WEIR_VERB_PEEK) {
        return WEIR_OK;
    }
    if (check->id == NULL || check->id_size == 0) {
        return weir_fail(
            error, WEIR_INVALID,
            "id was empty for concurrency limit \"%s\"; it must say who holds the place",
            check->limit->name);
    }
    return WEIR_OK;
}

static weir_status check_cost(const weir_check *check, weir_verb verb, weir_error *error)
{
    if (verb == WEIR_VERB_RENEW || verb == WEIR_VERB_RELEASE) {
        return weir_fail(error, WEIR_INVALID,
                         "limit \"%s\" is a %s, whose keys hold no ids; only concurrency has %s",
                         check->limit->name, weir_algorithm_name(check->limit->algorithm),
                         verb == WEIR_VERB_RENEW ? "renew" : "release");
    }
    if (check->cost < 0 || check->cost > WEIR_COST_MAX) {
        return weir_fail(error, WEIR_INVALID,
                         "cost was %" PRId64 " for limit \"%s\"; it must be from 0 to 2^43",
                         check->cost, check->limit->name);
    }
    return WEIR_OK;
}

weir_status weir_check_validate(const weir_check *check, weir_verb verb, weir_error *error)
{
    if (check == NULL || check->limit == NULL || check->limit->algorithm < WEIR_TOKEN_BUCKET ||
        check->limit->algorithm > WEIR_CONCURRENCY) {
        return weir_fail(error, WEIR_INVALID,
                         "check had no limit; it must have one that weir_limit_init prepared");
    }
    if (check->key == NULL || check->key_size == 0) {
        return weir_fail(error, WEIR_INVALID,
                         "key was empty for limit \"%s\"; it must have at least one byte",
                         check->limit->name);
    }
    if (check->limit->algorithm == WEIR_CONCURRENCY) {
        return check_id(check, verb, error);
    }
    return check_cost(check, verb, error);
}
