// The verbs of a store on a real server, by socket and by TCP.

#include <stdio.h>

#include "server.h"

#include "weir_scripts.h"

static test_server server;

static int start(void **state)
{
    (void)state;
    char port[8];
    SERVER(&server, "--port", test_free_port(port), "--bind", "127.0.0.1");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_server_stop(&server);
    return 0;
}

static void take_peek_refund_charge_and_reset(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_DAY);
    weir_check check = check_of(&limit, "verbs", 4);
    weir_decision d;
    assert_int_equal(weir_store_take(store, &check, NOW, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
    assert_int_equal(d.source, WEIR_SOURCE_STORE);
    assert_int_equal(d.remaining, 6);
    check.cost = 7;
    assert_int_equal(weir_store_peek(store, &check, NOW, &d, NULL), WEIR_OK);
    assert_false(d.allowed);
    assert_int_equal(d.remaining, 6);
    assert_int_equal(weir_store_charge(store, &check, NOW, &d, NULL), WEIR_OK);
    assert_int_equal(d.remaining, 0);
    check.cost = 5;
    assert_int_equal(weir_store_refund(store, &check, NOW, &d, NULL), WEIR_OK);
    assert_int_equal(d.remaining, 4);
    assert_int_equal(weir_store_reset(store, &check, NULL), WEIR_OK);
    assert_int_equal(weir_store_reset(store, &check, NULL), WEIR_OK);
    assert_int_equal(weir_store_peek(store, &check, NOW, &d, NULL), WEIR_OK);
    assert_int_equal(d.remaining, 10);
    weir_store_close(store);
}

static void acquire_renew_and_release(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 1, .ttl_us = WEIR_MINUTE);
    char long_id[300];
    memset(long_id, 'i', sizeof long_id);
    weir_check check = {&limit, WEIR_TEXT("leases"), .id = long_id, .id_size = sizeof long_id};
    weir_decision d;
    assert_int_equal(weir_store_acquire(store, &check, NOW, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
    const weir_check another = {&limit, WEIR_TEXT("leases"), .id = "x\0y", .id_size = 3};
    assert_int_equal(weir_store_acquire(store, &another, NOW, &d, NULL), WEIR_OK);
    assert_false(d.allowed);
    assert_int_equal(d.retry_after_us, WEIR_MINUTE);
    assert_int_equal(weir_store_renew(store, &check, NOW + 1, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
    assert_int_equal(weir_store_release(store, &another, NOW + 1, &d, NULL), WEIR_OK);
    assert_false(d.allowed);
    assert_int_equal(weir_store_release(store, &check, NOW + 1, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
    assert_int_equal(weir_store_acquire(store, &another, NOW + 1, &d, NULL), WEIR_OK);
    assert_true(d.allowed);
    weir_store_close(store);
}

static void the_server_s_clock_is_read_when_none_is_given(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit gap = LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = WEIR_HOUR);
    const weir_limit window =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 3, .window_us = WEIR_DAY);
    weir_decision d, rows[2];
    assert_true(test_take(store, &gap, "clock", 1, 0).allowed);
    d = test_take(store, &gap, "clock", 1, 0);
    assert_false(d.allowed);
    assert_in_range(d.retry_after_us, WEIR_HOUR - 10 * WEIR_SECOND, WEIR_HOUR);
    const weir_check checks[] = {check_of(&gap, "clock", 1), check_of(&window, "clock", 1)};
    assert_int_equal(weir_store_take_all(store, checks, 2, 0, &d, rows, NULL), WEIR_OK);
    assert_false(d.allowed);
    assert_int_equal(d.binding, 0);
    assert_true(rows[1].allowed);
    assert_int_equal(rows[1].remaining, 3);
    weir_store_close(store);
}

static void take_all_is_all_or_none_and_says_what_binds(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit one = LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 2, .period_us = WEIR_HOUR);
    const weir_limit two = LIMIT(.algorithm = WEIR_SLIDING_LOG, .limit = 5, .window_us = WEIR_DAY);
    const weir_limit three =
        LIMIT(.algorithm = WEIR_CONCURRENCY, .limit = 9, .ttl_us = WEIR_MINUTE);
    const weir_check checks[] = {check_of(&one, "all", 1), check_of(&two, "all", 1),
                                 check_of(&three, "all", 1)};
    weir_decision joint, rows[3];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(weir_store_take_all(store, checks, 3, NOW, &joint, rows, NULL), WEIR_OK);
        assert_true(joint.allowed);
        assert_int_equal(joint.binding, 0);
        assert_int_equal(joint.remaining, 1 - i);
    }
    assert_int_equal(weir_store_take_all(store, checks, 3, NOW, &joint, NULL, NULL), WEIR_OK);
    assert_false(joint.allowed);
    assert_int_equal(joint.binding, 0);
    assert_int_equal(joint.retry_after_us, WEIR_HOUR / 2);
    assert_int_equal(test_peek(store, &two, "all", 1, NOW).remaining, 3);
    // A list of one is an ordinary take.
    assert_int_equal(weir_store_take_all(store, checks + 1, 1, NOW, &joint, rows, NULL), WEIR_OK);
    assert_true(joint.allowed);
    assert_int_equal(rows[0].remaining, 2);
    // The same limit and key twice is a mistake.
    const weir_check twice[] = {checks[0], checks[1], checks[0]};
    weir_error error;
    assert_int_equal(weir_store_take_all(store, twice, 3, NOW, &joint, NULL, &error), WEIR_INVALID);
    assert_non_null(strstr(error.message, "at 0 and 2"));
    weir_store_close(store);
}

static void take_many_answers_each_by_itself(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_DAY);
    enum { COUNT = 700 }; // more than one pipeline
    static char keys[COUNT][16];
    static weir_check checks[COUNT];
    static weir_decision rows[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "many %d", i % (COUNT / 2)); // each key twice
        checks[i] = check_of(&limit, keys[i], 1);
    }
    checks[3].key_size = 0;
    checks[COUNT - 1].cost = -1;
    weir_error error;
    assert_int_equal(weir_store_take_many(store, checks, COUNT, NOW, rows, &error), WEIR_INVALID);
    assert_non_null(strstr(error.message, "key was empty"));
    for (int i = 0; i < COUNT; i++) {
        const bool wrong = i == 3 || i == COUNT - 1;
        assert_int_equal(rows[i].status, wrong ? WEIR_INVALID : WEIR_OK);
        if (!wrong) {
            assert_int_equal(rows[i].allowed, i < COUNT / 2 || i == COUNT / 2 + 3);
        }
    }
    weir_store_close(store);
}

static void c069_any_bytes_make_a_key_and_none_makes_none(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_DAY);
    const struct {
        const char *text;
        size_t size;
    } keys[] = {{"a b%s\r\n\0z", 9}, {"a b%s\r\n\0y", 9}, {"a b%s\r\n", 7}, {"\0", 1}, {"%s%n", 4}};
    weir_decision d;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const weir_check check = {&limit, keys[i].text, keys[i].size, .cost = 1};
        assert_int_equal(weir_store_take(store, &check, NOW, &d, NULL), WEIR_OK);
        assert_true(d.allowed);
        assert_int_equal(weir_store_take(store, &check, NOW, &d, NULL), WEIR_OK);
        assert_false(d.allowed);
    }
    weir_check none = {&limit, NULL, 0, .cost = 1};
    assert_int_equal(weir_store_take(store, &none, NOW, &d, NULL), WEIR_INVALID);
    none.key = "";
    assert_int_equal(weir_store_take(store, &none, NOW, &d, NULL), WEIR_INVALID);
    weir_store_close(store);
}

static void c094_c096_what_has_another_key_is_limited_by_itself(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    static char text[1 << 20];
    memset(text, 'x', sizeof text);
    const char *const names[] = {"a:b", "a", "ab", "ip", "user"};
    const struct {
        const char *key;
        size_t size;
    } keys[] = {{"c", 1}, {"b:c", 3}, {"bc", 2}, {text, 1000}, {text, 1001}, {text, sizeof text}};
    weir_decision d;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            const weir_limit limit =
                test_limit(&(weir_limit_options){.name = names[n],
                                                 .algorithm = WEIR_FIXED_WINDOW,
                                                 .limit = 1,
                                                 .window_us = WEIR_DAY});
            for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
                const weir_check check = {&limit, keys[k].key, keys[k].size, .cost = 1};
                assert_int_equal(weir_store_take(store, &check, NOW, &d, NULL), WEIR_OK);
                assert_int_equal(d.allowed, turn == 0);
            }
        }
    }
    weir_store_close(store);
}

// A tag is part of the name, so a key goes on under its tag only.
static void the_key_on_the_server_is_the_one_that_the_header_says(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?deadline=20s");
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_DAY);
    const weir_check check = {&limit, WEIR_TEXT("bob"), .cost = 1, .tag = "shop", .tag_size = 4};
    weir_decision d;
    assert_int_equal(weir_store_take(store, &check, 0, &d, NULL), WEIR_OK);
    assert_int_equal(test_ask_number(&server, "EXISTS weir1:{shop}:bob:test:fixed_window"), 1);
    assert_true(test_ask_number(&server, "PTTL weir1:{shop}:bob:test:fixed_window") > 0);
    weir_store_close(store);
}

static void c079_each_digest_is_the_server_s_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        const weir_script *script = &weir_scripts[i];
        assert_int_equal(strlen(script->sha1), 40);
        assert_int_equal(strspn(script->sha1, "0123456789abcdef"), 40);
        assert_int_equal(strlen(script->body), script->size);
        assert_string_equal(test_ask(&server, "SCRIPT LOAD %s", script->body), script->sha1);
    }
}

// A limit of nought asks the server like any other: the answers are the memory store's.
static void a_limit_of_nought_answers_as_in_memory(void **state)
{
    (void)state;
    weir_store *stores[2] = {test_redis(server.url, "?deadline=20s"), test_store(NULL)};
    const weir_limit limits[] = {
        LIMIT(.algorithm = WEIR_TOKEN_BUCKET, .rate = 1, .period_us = 1, .burst = WEIR_NONE),
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .window_us = WEIR_DAY),
        LIMIT(.algorithm = WEIR_SLIDING_LOG, .window_us = WEIR_DAY),
        LIMIT(.algorithm = WEIR_SLIDING_COUNTER, .window_us = WEIR_DAY),
        LIMIT(.algorithm = WEIR_CONCURRENCY, .ttl_us = WEIR_DAY),
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        for (int cost = 0; cost < 2; cost++) {
            weir_decision d[2] = {0}, p[2] = {0};
            const weir_check check = check_of(&limits[i], "nought", cost);
            for (int s = 0; s < 2; s++) {
                assert_int_equal(weir_store_take(stores[s], &check, NOW, &d[s], NULL), WEIR_OK);
                assert_int_equal(weir_store_peek(stores[s], &check, NOW, &p[s], NULL), WEIR_OK);
            }
            assert_memory_equal(&d[0], &d[1], sizeof d[0]);
            assert_memory_equal(&p[0], &p[1], sizeof p[0]);
        }
    }
    assert_int_equal(test_ask_number(&server, "EXISTS weir1:{nought}:nought:test:token_bucket"), 0);
    weir_store_close(stores[0]);
    weir_store_close(stores[1]);
}

static void tcp_by_number_and_by_name_reach_the_same_server(void **state)
{
    (void)state;
    char url[64];
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_DAY);
    const char *const hosts[] = {"127.0.0.1", "localhost"};
    for (int i = 0; i < 2; i++) {
        snprintf(url, sizeof url, "redis://%s:%d?deadline=5s", hosts[i], server.port);
        weir_store *store = test_redis(url, "");
        assert_int_equal(test_take(store, &limit, "tcp", 1, NOW).remaining, 9 - i);
        weir_store_close(store);
    }
}

static void c059_c154_a_list_in_a_cluster_must_share_its_tag(void **state)
{
    (void)state;
    weir_store *store = test_redis(server.url, "?cluster=yes&deadline=20s");
    const weir_limit one = LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 9, .window_us = WEIR_DAY);
    const weir_limit two = LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = 1);
    weir_check checks[] = {check_of(&one, "slot a", 1), check_of(&two, "slot b", 1)};
    weir_decision joint;
    weir_error error;
    const long long before = test_ask_number(&server, "DBSIZE");
    assert_int_equal(weir_store_take_all(store, checks, 2, NOW, &joint, NULL, &error),
                     WEIR_CROSS_SLOT);
    assert_non_null(strstr(error.message, "tag"));
    assert_int_equal(test_ask_number(&server, "DBSIZE"), before);
    checks[1].tag = checks[0].key; // the first one's tag is its key
    checks[1].tag_size = checks[0].key_size;
    assert_int_equal(weir_store_take_all(store, checks, 2, NOW, &joint, NULL, &error), WEIR_OK);
    assert_true(joint.allowed);
    assert_int_equal(weir_store_take_many(store, checks, 1, NOW, &joint, &error), WEIR_OK);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take_peek_refund_charge_and_reset),
        cmocka_unit_test(acquire_renew_and_release),
        cmocka_unit_test(the_server_s_clock_is_read_when_none_is_given),
        cmocka_unit_test(take_all_is_all_or_none_and_says_what_binds),
        cmocka_unit_test(take_many_answers_each_by_itself),
        cmocka_unit_test(c069_any_bytes_make_a_key_and_none_makes_none),
        cmocka_unit_test(c094_c096_what_has_another_key_is_limited_by_itself),
        cmocka_unit_test(the_key_on_the_server_is_the_one_that_the_header_says),
        cmocka_unit_test(c079_each_digest_is_the_server_s_own),
        cmocka_unit_test(a_limit_of_nought_answers_as_in_memory),
        cmocka_unit_test(tcp_by_number_and_by_name_reach_the_same_server),
        cmocka_unit_test(c059_c154_a_list_in_a_cluster_must_share_its_tag),
    };
    return cmocka_run_group_tests_name("redis store", tests, start, stop);
}
