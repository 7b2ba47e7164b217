// One thread's instance of a policy: from a request to a decision, and what follows the response.

#include "weir/policy.h"

#include <stdlib.h>

#include "error.h"
#include "instance.h"
#include "reload.h"
#include "verdict.h"

struct weir_runner {
    weir_policy *policy;
    instance *instance;
    verdict verdict;
    weir_decision rows[WEIR_CHECKS_MAX];
    weir_settle_verb verbs[WEIR_CHECKS_MAX];
};

// Puts an instance of the policy that holds now in place of the runner's.
static weir_status renew_instance(weir_runner *runner, weir_error *error)
{
    source *now = policy_source(runner->policy);
    instance *next;
    const weir_status status = instance_open(&next, now, NULL, 0, error);
    source_drop(now);
    if (status != WEIR_OK) {
        return status;
    }
    instance_close(runner->instance);
    runner->instance = next;
    return WEIR_OK;
}

weir_status weir_runner_open(weir_runner **out, weir_policy *policy, weir_error *error)
{
    weir_runner *runner = calloc(1, sizeof *runner);
    if (runner == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for a runner");
    }
    runner->policy = policy;
    const weir_status status = renew_instance(runner, error);
    if (status != WEIR_OK) {
        free(runner);
        return status;
    }
    *out = runner;
    return WEIR_OK;
}

void weir_runner_close(weir_runner *runner)
{
    if (runner == NULL) {
        return;
    }
    instance_close(runner->instance);
    free(runner);
}

// Makes the instance one of now. `out_renewed`: the call that follows shares the deadline with the
// load.
static weir_status make_current(weir_runner *runner, bool *out_renewed, weir_error *error)
{
    *out_renewed = runner->instance->dead ||
                   runner->instance->source->generation != policy_generation(runner->policy);
    return *out_renewed ? renew_instance(runner, error) : WEIR_OK;
}

// One check alone is its own joint decision.
static weir_status take_together(weir_store *store, const weir_check *checks, size_t count,
                                 int64_t now_us, weir_decision *joint, weir_decision *rows,
                                 weir_error *error)
{
    if (count > 1) {
        return weir_store_take_all(store, checks, count, now_us, joint, rows, error);
    }
    const weir_status status = weir_store_take(store, checks, now_us, rows, error);
    *joint = *rows;
    return status;
}

// The checks that are not in shadow, and where in the verdict each of them is.
typedef struct counted {
    weir_check checks[WEIR_CHECKS_MAX];
    size_t place[WEIR_CHECKS_MAX];
    size_t count;
} counted;

static void count_checks(const verdict *v, counted *out)
{
    out->count = 0;
    for (size_t i = 0; i < v->count; i++) {
        if (!v->shadow[i]) {
            out->checks[out->count] = v->checks[i];
            out->place[out->count++] = i;
        }
    }
}

// A check in shadow never fails the call: what else was taken stands already. Its row says so.
static void try_shadows(weir_runner *runner, weir_store *store, int64_t now_us, bool passed)
{
    const verdict *v = &runner->verdict;
    for (size_t i = 0; i < v->count; i++) {
        if (!v->shadow[i]) {
            continue;
        }
        weir_decision row = {0};
        const weir_status status = passed
                                       ? weir_store_take(store, &v->checks[i], now_us, &row, NULL)
                                       : weir_store_peek(store, &v->checks[i], now_us, &row, NULL);
        runner->rows[i] = status == WEIR_OK ? row : (weir_decision){.status = status};
    }
}

static weir_status take_beside_shadows(weir_runner *runner, weir_store *store, weir_outcome *out,
                                       weir_error *error)
{
    const int64_t now_us = instance_now_us(runner->instance);
    counted c;
    count_checks(&runner->verdict, &c);
    if (c.count > 0) {
        weir_decision rows[WEIR_CHECKS_MAX];
        const weir_status status =
            take_together(store, c.checks, c.count, now_us, &out->decision, rows, error);
        if (status != WEIR_OK) {
            return status;
        }
        for (size_t i = 0; i < c.count; i++) {
            runner->rows[c.place[i]] = rows[i];
        }
        out->allowed = out->decision.allowed;
        out->binding = c.checks[out->decision.binding].limit;
        out->decision.binding = c.place[out->decision.binding];
    }
    try_shadows(runner, store, now_us, out->allowed);
    return WEIR_OK;
}

static weir_status take(weir_runner *runner, weir_store *store, const weir_verdict *said,
                        weir_outcome *out, weir_error *error)
{
    if (runner->verdict.has_shadow) {
        return take_beside_shadows(runner, store, out, error);
    }
    const weir_status status = take_together(store, said->checks, said->count, said->time_us,
                                             &out->decision, runner->rows, error);
    if (status == WEIR_OK) {
        out->allowed = out->decision.allowed;
        out->binding = said->checks[out->decision.binding].limit;
    }
    return status;
}

weir_status weir_runner_ask(weir_runner *runner, weir_store *store, const weir_request *request,
                            weir_verdict *out, weir_error *error)
{
    const call_subject subject = {.store = store, .request = request};
    bool renewed;
    weir_status status = make_current(runner, &renewed, error);
    if (status != WEIR_OK) {
        return status;
    }
    instance *in = runner->instance;
    verdict *v = &runner->verdict;
    status = instance_call(in, PHASE_REQUEST, &subject, renewed, error);
    if (status != WEIR_OK) {
        return status;
    }
    status = verdict_read(in, v, error);
    instance_finish(in);
    if (status != WEIR_OK) {
        return status;
    }
    *out = (weir_verdict){
        .refused = v->refused,
        .reason = v->refused && in->has_reason ? in->reason : NULL,
        .checks = v->checks,
        .shadow = v->shadow,
        .count = v->refused ? 0 : v->count,
        .time_us = store != NULL ? in->now_us : request->time_us,
    };
    return WEIR_OK;
}

weir_status weir_runner_decide(weir_runner *runner, weir_store *store, const weir_request *request,
                               weir_outcome *out, weir_error *error)
{
    weir_verdict said;
    const weir_status status = weir_runner_ask(runner, store, request, &said, error);
    if (status != WEIR_OK) {
        return status;
    }
    *out = (weir_outcome){
        .allowed = !said.refused,
        .reason = said.reason,
        .checks = said.checks,
        .rows = runner->rows,
        .shadow = said.shadow,
        .count = said.count,
    };
    return said.count > 0 ? take(runner, store, &said, out, error) : WEIR_OK;
}

weir_status weir_runner_settle(weir_runner *runner, weir_store *store, const weir_request *request,
                               const weir_field *response, size_t response_count, bool allowed,
                               weir_settlement *out, weir_error *error)
{
    const call_subject subject = {.store = store,
                                  .request = request,
                                  .response = response,
                                  .response_count = response_count,
                                  .allowed = allowed};
    *out = (weir_settlement){.verbs = runner->verbs, .checks = runner->verdict.checks};
    bool renewed;
    weir_status status = make_current(runner, &renewed, error);
    instance *in = runner->instance;
    if (status != WEIR_OK || !in->source->has_response) {
        return status;
    }
    status = instance_call(in, PHASE_RESPONSE, &subject, renewed, error);
    if (status != WEIR_OK) {
        return status;
    }
    instance_finish(in);
    for (size_t i = 0; i < in->ask_count; i++) {
        runner->verbs[i] = in->asks[i].verb;
        runner->verdict.checks[i] = instance_check(in, &in->asks[i]);
    }
    out->count = in->ask_count;
    out->time_us = store != NULL ? in->now_us : request->time_us;
    return WEIR_OK;
}

static weir_status apply(weir_store *store, weir_settle_verb verb, const weir_check *check,
                         int64_t now_us, weir_error *error)
{
    weir_decision row;
    switch (verb) {
    case WEIR_SETTLE_REFUND:
        return weir_store_refund(store, check, now_us, &row, error);
    case WEIR_SETTLE_CHARGE:
        return weir_store_charge(store, check, now_us, &row, error);
    case WEIR_SETTLE_RELEASE:
        return weir_store_release(store, check, now_us, &row, error);
    }
    return WEIR_INVALID;
}

weir_status weir_runner_respond(weir_runner *runner, weir_store *store, const weir_request *request,
                                const weir_field *response, size_t response_count, bool allowed,
                                weir_error *error)
{
    weir_settlement asked;
    weir_status first = weir_runner_settle(runner, store, request, response, response_count,
                                           allowed, &asked, error);
    const int64_t now_us = asked.count > 1 ? instance_now_us(runner->instance) : asked.time_us;
    for (size_t i = 0; i < asked.count; i++) {
        const weir_status status =
            apply(store, asked.verbs[i], &asked.checks[i], now_us, first == WEIR_OK ? error : NULL);
        if (first == WEIR_OK) {
            first = status;
        }
    }
    return first;
}
