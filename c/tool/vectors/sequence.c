// sequence: runs the events of one line in turn and compares each answer with the one expected.

#include "vectors/sequence.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "store/open.h"
#include "vectors/limit_json.h"

#define ROW_SIZE 6

// The verbs that events name.
typedef weir_status verb_function(weir_store *, const weir_check *, int64_t, weir_decision *,
                                  weir_error *);
static const struct {
    const char *name;
    verb_function *call;
} verbs[] = {
    {"take", weir_store_take},       {"peek", weir_store_peek},       {"refund", weir_store_refund},
    {"charge", weir_store_charge},   {"acquire", weir_store_acquire}, {"renew", weir_store_renew},
    {"release", weir_store_release},
};

static verb_function *find_verb(const char *name)
{
    for (size_t i = 0; name && i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return verbs[i].call;
        }
    }
    return NULL;
}

static weir_status malformed(weir_error *error, const char *what)
{
    snprintf(error->message, sizeof error->message, "%s", what);
    return error->status = WEIR_INVALID;
}

static json_t *row_of(const weir_decision *d)
{
    return json_pack("[i, I, I, I, I, I]", (int)d->allowed, (json_int_t)d->limit,
                     (json_int_t)d->remaining, (json_int_t)d->retry_after_us,
                     (json_int_t)d->reset_after_us, (json_int_t)d->delay_us);
}

static void write_json(const json_t *value, char *out, size_t size)
{
    size_t length = json_dumpb(value, out, size - 1, JSON_COMPACT | JSON_ENCODE_ANY);
    out[length < size - 1 ? length : size - 1] = '\0';
}

static void note_wrong(sequence_result *result, size_t event_index, size_t check_index,
                       const json_t *event, const json_t *expected, const json_t *got,
                       const char *failure)
{
    if (result->wrong++ > 0) {
        return;
    }
    result->first_event = event_index;
    result->first_check = check_index;
    write_json(event, result->event, sizeof result->event);
    write_json(expected, result->expected, sizeof result->expected);
    if (failure) {
        snprintf(result->got, sizeof result->got, "%s", failure);
    } else {
        write_json(got, result->got, sizeof result->got);
    }
}

// The cost of a check, or its id.
static bool set_cost(weir_check *check, const json_t *cost)
{
    if (json_is_string(cost)) {
        check->id = json_string_value(cost);
        check->id_size = json_string_length(cost);
        return check->limit->algorithm == WEIR_CONCURRENCY;
    }
    check->cost = json_integer_value(cost);
    return json_is_integer(cost) && check->limit->algorithm != WEIR_CONCURRENCY;
}

static weir_status run_event(weir_store *store, weir_check check, size_t index, const json_t *event,
                             const json_t *expected, sequence_result *result, weir_error *error)
{
    verb_function *verb = find_verb(json_string_value(json_array_get(event, 0)));
    const json_t *now = json_array_get(event, 1);
    if (!verb || !json_is_integer(now) || !set_cost(&check, json_array_get(event, 2))) {
        return malformed(error, "an event is not [op, now_us, cost or id]");
    }
    if (json_array_size(expected) != ROW_SIZE) {
        return malformed(error, "a row of expect has not six numbers");
    }

    weir_decision decision;
    weir_error failure = {0};
    weir_status status = verb(store, &check, json_integer_value(now), &decision, &failure);
    if (store_is_away(status)) {
        *error = failure;
        return status;
    }
    json_t *got = status == WEIR_OK ? row_of(&decision) : NULL;
    result->rows++;
    if (!got || !json_equal(got, expected)) {
        note_wrong(result, index, 0, event, expected, got, got ? NULL : failure.message);
    }
    json_decref(got);
    return WEIR_OK;
}

// One joint answer: each check's row is compared, with the joint allowed and binding, so a wrong
// joint number makes all its rows wrong.
static weir_status run_joint(weir_store *store, weir_check *checks, size_t count, size_t index,
                             const json_t *event, const json_t *expected, sequence_result *result,
                             weir_error *error)
{
    const json_t *now = json_array_get(event, 0), *costs = json_array_get(event, 1);
    const json_t *rows = json_array_get(expected, 2);
    if (!json_is_integer(now) || json_array_size(costs) != count ||
        json_array_size(rows) != count) {
        return malformed(error, "an event is not [now_us, [cost or id, ...]] with its answer");
    }
    for (size_t i = 0; i < count; i++) {
        if (!set_cost(&checks[i], json_array_get(costs, i))) {
            return malformed(error, "a cost is neither a number nor the id of a lease");
        }
    }

    weir_decision joint, decisions[WEIR_CHECKS_MAX];
    weir_error failure = {0};
    weir_status status = weir_store_take_all(store, checks, count, json_integer_value(now), &joint,
                                             decisions, &failure);
    if (store_is_away(status)) {
        *error = failure;
        return status;
    }
    bool answered = status == WEIR_OK;
    json_t *got_rows = json_array();
    for (size_t i = 0; answered && i < count; i++) {
        json_array_append_new(got_rows, row_of(&decisions[i]));
    }
    json_t *got =
        answered ? json_pack("[i, I, o]", (int)joint.allowed, (json_int_t)joint.binding, got_rows)
                 : NULL;
    if (!got) {
        json_decref(got_rows);
    }
    bool same = got && json_equal(json_array_get(got, 0), json_array_get(expected, 0)) &&
                json_equal(json_array_get(got, 1), json_array_get(expected, 1));
    for (size_t i = 0; i < count; i++) {
        result->rows++;
        if (!same || !json_equal(json_array_get(got_rows, i), json_array_get(rows, i))) {
            note_wrong(result, index, i, event, expected, got, got ? NULL : failure.message);
        }
    }
    json_decref(got);
    return WEIR_OK;
}

static weir_status run_root(const json_t *root, weir_store *store, const char *key,
                            sequence_result *result, weir_error *error)
{
    const json_t *one = json_object_get(root, "limit"), *all = json_object_get(root, "limits");
    const json_t *events = json_object_get(root, "events");
    const json_t *expect = json_object_get(root, "expect");
    size_t count = one ? 1 : json_array_size(all);
    if (count == 0 || count > WEIR_CHECKS_MAX || !json_is_array(events) ||
        json_array_size(events) != json_array_size(expect)) {
        return malformed(error, "it is not {\"limit\" or \"limits\", \"events\", \"expect\"} with "
                                "an answer for each event");
    }

    weir_limit limits[WEIR_CHECKS_MAX];
    weir_check checks[WEIR_CHECKS_MAX] = {0};
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "limit-%zu", i);
        weir_status status =
            limit_from_json(&limits[i], one ? one : json_array_get(all, i), name, error);
        if (status != WEIR_OK) {
            return status;
        }
        checks[i] = (weir_check){.limit = &limits[i], .key = key, .key_size = strlen(key)};
    }
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *expected = json_array_get(expect, i);
        status = one ? run_event(store, checks[0], i, event, expected, result, error)
                     : run_joint(store, checks, count, i, event, expected, result, error);
    }
    return status;
}

weir_status sequence_run(const char *line, size_t size, weir_store *store, const char *key,
                         sequence_result *out, weir_error *error)
{
    *out = (sequence_result){0};
    json_error_t where;
    json_t *root = json_loadb(line, size, 0, &where);
    if (!root) {
        snprintf(error->message, sizeof error->message, "it is not JSON: %s at column %d",
                 where.text, where.column);
        return error->status = WEIR_INVALID;
    }
    weir_status status = run_root(root, store, key, out, error);
    json_decref(root);
    return status;
}
