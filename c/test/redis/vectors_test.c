// Every row of every vector through the client, on a plain server and on one in cluster mode.

#include <jansson.h>
#include <stdio.h>

#include "server.h"

static test_server server;
static weir_store *store;

static int64_t number(json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_boolean(value) ? json_is_true(value) : json_integer_value(value);
}

static weir_limit limit_of(json_t *v, const char *name)
{
    weir_limit_options options = {
        .name = name,
        .rate = number(v, "rate"),
        .period_us = number(v, "period"),
        .burst = number(v, "burst"),
        .queue = number(v, "queue"),
        .limit = number(v, "limit"),
        .window_us = number(v, "window"),
        .offset_us = number(v, "offset"),
        .slots = number(v, "slots"),
        .strict = number(v, "strict"),
        .gap_us = number(v, "gap"),
        .count_denied = number(v, "count_denied"),
        .ttl_us = number(v, "ttl"),
    };
    const char *algorithm = json_string_value(json_object_get(v, "algorithm"));
    assert_int_equal(weir_algorithm_parse(algorithm, &options.algorithm, NULL), WEIR_OK);
    if (options.algorithm == WEIR_TOKEN_BUCKET && options.burst == 0) {
        options.burst = WEIR_NONE; // a vector always says its burst
    }
    return test_limit(&options);
}

static void set_cost(weir_check *check, json_t *cost)
{
    if (json_is_string(cost)) {
        check->id = json_string_value(cost);
        check->id_size = json_string_length(cost);
    } else {
        check->cost = json_integer_value(cost);
    }
}

static void assert_row(json_t *row, const weir_decision *d, const char *where, size_t event)
{
    const int64_t got[] = {d->allowed,        d->limit,          d->remaining,
                           d->retry_after_us, d->reset_after_us, d->delay_us};
    for (size_t i = 0; i < 6; i++) {
        const int64_t expected = json_integer_value(json_array_get(row, i));
        if (got[i] != expected) {
            fail_msg("%s, event %zu, field %zu: %lld where %lld is right", where, event, i,
                     (long long)got[i], (long long)expected);
        }
    }
}

static weir_status call(const char *op, const weir_check *check, int64_t now_us, weir_decision *d,
                        weir_error *error)
{
    static const struct {
        const char *name;
        weir_status (*verb)(weir_store *, const weir_check *, int64_t, weir_decision *,
                            weir_error *);
    } verbs[] = {
        {"take", weir_store_take},       {"peek", weir_store_peek},
        {"refund", weir_store_refund},   {"charge", weir_store_charge},
        {"renew", weir_store_renew},     {"acquire", weir_store_acquire},
        {"release", weir_store_release},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i].name, op) == 0) {
            return verbs[i].verb(store, check, now_us, d, error);
        }
    }
    fail_msg("%s", op);
    return WEIR_INVALID;
}

static void play_one(json_t *sequence, const char *where)
{
    const weir_limit limit = limit_of(json_object_get(sequence, "limit"), "vector");
    json_t *events = json_object_get(sequence, "events");
    json_t *expect = json_object_get(sequence, "expect");
    size_t i;
    json_t *event;
    json_array_foreach (events, i, event) {
        weir_check check = {&limit, where, strlen(where), .cost = 0};
        set_cost(&check, json_array_get(event, 2));
        weir_decision d;
        weir_error error;
        const char *op = json_string_value(json_array_get(event, 0));
        if (call(op, &check, json_integer_value(json_array_get(event, 1)), &d, &error) != WEIR_OK) {
            fail_msg("%s, event %zu: %s", where, i, error.message);
        }
        assert_row(json_array_get(expect, i), &d, where, i);
    }
}

static void play_all(json_t *sequence, const char *where)
{
    json_t *limits = json_object_get(sequence, "limits"), *event;
    json_t *events = json_object_get(sequence, "events");
    weir_limit made[WEIR_CHECKS_MAX];
    const size_t count = json_array_size(limits);
    for (size_t k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "vector %zu", k);
        made[k] = limit_of(json_array_get(limits, k), name);
    }
    size_t i;
    json_array_foreach (events, i, event) {
        weir_check checks[WEIR_CHECKS_MAX] = {0};
        weir_decision joint, rows[WEIR_CHECKS_MAX];
        for (size_t k = 0; k < count; k++) {
            checks[k] = (weir_check){&made[k], where, strlen(where), .cost = 0};
            set_cost(&checks[k], json_array_get(json_array_get(event, 1), k));
        }
        weir_error error;
        if (weir_store_take_all(store, checks, count, json_integer_value(json_array_get(event, 0)),
                                &joint, rows, &error) != WEIR_OK) {
            fail_msg("%s, event %zu: %s", where, i, error.message);
        }
        json_t *expected = json_array_get(json_object_get(sequence, "expect"), i);
        assert_int_equal(joint.allowed, json_integer_value(json_array_get(expected, 0)));
        assert_int_equal(joint.binding, json_integer_value(json_array_get(expected, 1)));
        for (size_t k = 0; k < count; k++) {
            assert_row(json_array_get(json_array_get(expected, 2), k), &rows[k], where, i);
        }
    }
}

static void play_file(const char *name, void play(json_t *, const char *))
{
    char path[64];
    snprintf(path, sizeof path, "spec/vectors/%s.jsonl", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t room = 0, count = 0;
    while (getline(&line, &room, file) > 0) {
        char where[64];
        snprintf(where, sizeof where, "%s %zu", name, ++count);
        json_t *sequence = json_loads(line, 0, NULL);
        assert_non_null(sequence);
        play(sequence, where);
        json_decref(sequence);
    }
    assert_true(count > 100);
    free(line);
    fclose(file);
}

static void every_row_of_one(void **state)
{
    (void)state;
    play_file("one", play_one);
}

static void every_row_of_leases(void **state)
{
    (void)state;
    play_file("leases", play_one);
}

static void every_row_of_all(void **state)
{
    (void)state;
    play_file("all", play_all);
}

static int start_plain(void **state)
{
    (void)state;
    SERVER(&server, "--databases", "1");
    store = test_redis(server.url, "?deadline=60s");
    return 0;
}

// A node that holds all slots by itself; while it makes up its mind it says CLUSTERDOWN, which the
// client waits for.
static int start_cluster(void **state)
{
    (void)state;
    char port[8], bus[8];
    SERVER(&server, "--port", test_free_port(port), "--cluster-port", test_free_port(bus), "--bind",
           "127.0.0.1", "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf");
    assert_string_equal(test_ask(&server, "CLUSTER ADDSLOTSRANGE 0 16383"), "OK");
    store = test_redis(server.url, "?deadline=60s&cluster=yes");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    weir_store_close(store);
    store = NULL;
    test_server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_one),
        cmocka_unit_test(every_row_of_leases),
        cmocka_unit_test(every_row_of_all),
    };
    return cmocka_run_group_tests_name("redis vectors", tests, start_plain, stop) +
           cmocka_run_group_tests_name("redis vectors in cluster mode", tests, start_cluster, stop);
}
