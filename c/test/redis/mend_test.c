// What a person must mend: each has a status and a sentence of its own, consumes nothing, and is
// never an allow.

#include <hiredis.h>
#include <poll.h>
#include <stdio.h>

#include "proxy.h"
#include "server.h"

static test_server server;
static test_proxy proxy;

static int start(void **state)
{
    (void)state;
    SERVER(&server, "--requirepass", "secret-of-default", "--databases", "4");
    test_proxy_start(&proxy, &server);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_proxy_stop(&proxy);
    test_server_stop(&server);
    return 0;
}

// With the rights of the server's own user.
#define ADMIN "?password=secret-of-default"

static void as_admin(const char *command)
{
    redisContext *context = redisConnectUnix(server.path);
    redisReply *reply = redisCommand(context, "AUTH secret-of-default");
    freeReplyObject(reply);
    reply = redisCommand(context, command);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR) {
        fail_msg("%s: %s", command, reply->str);
    }
    freeReplyObject(reply);
    redisFree(context);
}

static weir_limit window(void)
{
    return LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_DAY);
}

// Every way to ask ends with the status, whatever on_error is, and a sentence without a password.
static void assert_ends(const char *url, const char *query, weir_status expected,
                        const char *sentence)
{
    static const char *const modes[] = {"&deadline=20s", "&deadline=20s&on_error=deny",
                                        "&deadline=20s&on_error=allow"};
    const weir_limit limit = window();
    const weir_check checks[2] = {check_of(&limit, "mend", 1), check_of(&limit, "mend 2", 1)};
    for (int i = 0; i < 3; i++) {
        char whole[512];
        snprintf(whole, sizeof whole, "%s%s%s", url, query, modes[i]);
        weir_store *store = test_redis(whole, "");
        weir_decision d[2];
        weir_error errors[5] = {0};
        weir_status got[] = {
            weir_store_take(store, checks, NOW, d, &errors[0]),
            weir_store_take_all(store, checks, 2, NOW, d, NULL, &errors[1]),
            weir_store_take_many(store, checks, 2, NOW, d, &errors[2]),
            weir_store_peek(store, checks, NOW, d, &errors[3]),
            weir_store_refund(store, checks, NOW, d, &errors[4]),
        };
        for (int k = 0; k < 5; k++) {
            if (got[k] != expected || errors[k].status != expected) {
                fail_msg("%d: %s: %s", k, weir_status_name(got[k]), errors[k].message);
            }
            assert_non_null(strstr(errors[k].message, sentence));
            assert_non_null(strstr(errors[k].message, "redis at /tmp/weir-"));
            assert_null(strstr(errors[k].message, "secret"));
        }
        weir_store_close(store);
    }
}

// What the key "mend" has used.
static int64_t used(void)
{
    weir_store *store = test_redis(server.url, ADMIN "&deadline=20s");
    const weir_limit limit = window();
    const int64_t count = 10 - test_peek(store, &limit, "mend", 1, NOW).remaining;
    weir_store_close(store);
    return count;
}

static void a_wrong_password(void **state)
{
    (void)state;
    assert_ends(server.url, "?password=secret-wrong", WEIR_WRONG_PASSWORD, "password");
    assert_ends(server.url, "?user=nobody&password=secret-of-default", WEIR_WRONG_PASSWORD,
                "password");
    assert_ends(server.url, "?db=0", WEIR_WRONG_PASSWORD, "none was given");
    assert_int_equal(used(), 0);
}

static void a_password_for_a_server_without_one(void **state)
{
    (void)state;
    test_server open;
    SERVER(&open, "--databases", "4");
    assert_ends(open.url, "?password=secret", WEIR_WRONG_PASSWORD, "no password");
    test_server_stop(&open);
}

static void a_wrong_db(void **state)
{
    (void)state;
    assert_ends(server.url, ADMIN "&db=4", WEIR_WRONG_DB, "no database of that number");
    assert_int_equal(used(), 0);
}

static void a_key_of_another_type_or_hand(void **state)
{
    (void)state;
    as_admin("DEL weir1:{mend}:mend:test:fixed_window");
    as_admin("SADD weir1:{mend}:mend:test:fixed_window x");
    assert_ends(server.url, ADMIN, WEIR_STATE, "did not write");
    as_admin("SET weir1:{mend}:mend:test:fixed_window not-of-weir");
    assert_ends(server.url, ADMIN, WEIR_STATE, "did not write");
    as_admin("DEL weir1:{mend}:mend:test:fixed_window");
}

static void a_user_without_the_right(void **state)
{
    (void)state;
    as_admin("ACL SETUSER no-scripts on >secret-user ~* +@all -@scripting");
    assert_ends(server.url, "?user=no-scripts&password=secret-user", WEIR_NOT_PERMITTED, "ACL");
    as_admin("ACL SETUSER no-keys on >secret-user ~other* +@all");
    assert_ends(server.url, "?user=no-keys&password=secret-user", WEIR_NOT_PERMITTED, "ACL");
    as_admin("ACL SETUSER no-get on >secret-user ~* +@all -get");
    assert_ends(server.url, "?user=no-get&password=secret-user", WEIR_NOT_PERMITTED, "ACL");
    assert_int_equal(used(), 0);
}

// CLIENT SETNAME is a courtesy: a user that may not have a name is served all the same.
static void a_user_that_may_only_call_scripts_is_served(void **state)
{
    (void)state;
    as_admin("ACL SETUSER bare on >secret-user ~weir1:* -@all +evalsha +eval +get +set +time");
    weir_store *store = test_redis(server.url, "?user=bare&password=secret-user&deadline=5s");
    const weir_limit limit = window();
    assert_int_equal(test_take(store, &limit, "bare", 1, NOW).remaining, 9);
    weir_store_close(store);
}

static void a_server_without_memory(void **state)
{
    (void)state;
    as_admin("CONFIG SET maxmemory 1");
    weir_store *store = test_redis(server.url, ADMIN "&deadline=20s");
    const weir_limit limit = window();
    const weir_check check = check_of(&limit, "mend", 1);
    weir_decision d;
    weir_error error;
    assert_int_equal(weir_store_take(store, &check, NOW, &d, &error), WEIR_SERVER_FULL);
    assert_non_null(strstr(error.message, "maxmemory"));
    weir_store_close(store);
    as_admin("CONFIG SET maxmemory 0");
    assert_int_equal(used(), 0);
}

static void a_server_that_only_reads(void **state)
{
    (void)state;
    as_admin("CONFIG SET replica-serve-stale-data yes");
    as_admin("REPLICAOF 127.0.0.1 1");
    weir_store *store = test_redis(server.url, "?password=secret-of-default&deadline=2s");
    const weir_limit limit = window();
    const weir_check check = check_of(&limit, "mend", 1);
    weir_decision d;
    weir_error error;
    assert_int_equal(weir_store_take(store, &check, NOW, &d, &error), WEIR_READONLY);
    as_admin("CONFIG SET replica-serve-stale-data no");
    assert_int_equal(weir_store_take(store, &check, NOW, &d, &error), WEIR_NOT_EXECUTED);
    assert_true(strlen(error.message) > 10);
    weir_store_close(store);
    as_admin("REPLICAOF NO ONE");
    assert_int_equal(used(), 0);
}

static void a_server_that_can_not_save(void **state)
{
    (void)state;
    weir_store *store = test_redis(proxy.url, ADMIN "&deadline=20s");
    const weir_limit limit = window();
    const weir_check check = check_of(&limit, "mend", 1);
    weir_decision d;
    weir_error error;
    test_proxy_set(&proxy, ANSWER, "-MISCONF Redis is configured to save RDB snapshots\r\n", 1);
    assert_int_equal(weir_store_take(store, &check, NOW, &d, &error), WEIR_NOT_EXECUTED);
    assert_non_null(strstr(error.message, "save to disk"));
    weir_store_close(store);
    assert_int_equal(used(), 0);
}

static void what_another_node_of_a_cluster_keeps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        weir_status status;
    } cases[] = {
        {"-MOVED 866 127.0.0.1:7001\r\n", WEIR_WRONG_NODE},
        {"-ASK 866 127.0.0.1:7001\r\n", WEIR_WRONG_NODE},
        {"-CROSSSLOT Keys in request don't hash to the same slot\r\n", WEIR_CROSS_SLOT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_proxy_set(&proxy, ANSWER, cases[i].text, 1000);
        assert_ends(proxy.url, ADMIN, cases[i].status, "cluster");
    }
    test_proxy_set(&proxy, PASS, NULL, 0);
    assert_int_equal(used(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_password),
        cmocka_unit_test(a_password_for_a_server_without_one),
        cmocka_unit_test(a_wrong_db),
        cmocka_unit_test(a_key_of_another_type_or_hand),
        cmocka_unit_test(a_user_without_the_right),
        cmocka_unit_test(a_user_that_may_only_call_scripts_is_served),
        cmocka_unit_test(a_server_without_memory),
        cmocka_unit_test(a_server_that_only_reads),
        cmocka_unit_test(a_server_that_can_not_save),
        cmocka_unit_test(what_another_node_of_a_cluster_keeps),
    };
    return cmocka_run_group_tests_name("redis to be mended", tests, start, stop);
}
