// Servers and networks that fail: each call ends by its deadline with the right status, is counted
// once or not at all, and the next caller never reads another's reply.

#include <errno.h>
#include <hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "proxy.h"
#include "server.h"
#include "store/redis/connection.h"
#include "store/redis/deadline.h"
#include "watch.h"
#include "weir_scripts.h"

#define GRACE_US 5000

// On a busy machine any one call may be late, or find its server late: what is wrong is so each
// time.
#define TRIES 20

static test_server server;
static test_proxy proxy;
static weir_limit window;

static int start(void **state)
{
    (void)state;
    char port[8];
    SERVER(&server, "--port", test_free_port(port), "--bind", "127.0.0.1");
    test_proxy_start(&proxy, &server);
    window = LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_DAY);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_proxy_stop(&proxy);
    test_server_stop(&server);
    return 0;
}

static int reset(void **state)
{
    (void)state;
    test_proxy_set(&proxy, PASS, NULL, 0);
    return 0;
}

static int64_t used(const char *key)
{
    weir_store *store = test_redis(server.url, "?deadline=5s");
    const int64_t count = 10 - test_peek(store, &window, key, 1, NOW).remaining;
    weir_store_close(store);
    return count;
}

typedef struct answer {
    weir_status status;
    weir_decision decision;
    weir_error error;
    int64_t took_us;
} answer;

static answer take(weir_store *store, const char *key)
{
    answer a = {0};
    const weir_check check = check_of(&window, key, 1);
    const test_watch watch = test_watch_start();
    a.status = weir_store_take(store, &check, NOW, &a.decision, &a.error);
    a.took_us = test_watch_us(&watch);
    return a;
}

// Takes until the call ends as expected and in time.
static void assert_ends(weir_store *store, const char *key, weir_status expected, int64_t most_us)
{
    answer a = {0};
    for (int i = 0; i < TRIES; i++) {
        a = take(store, key);
        if (a.status == expected && a.took_us < most_us + GRACE_US) {
            assert_int_equal(a.error.status, expected); // WEIR_OK when nothing was filled
            return;
        }
        assert_true(a.status == expected || a.status == WEIR_INDETERMINATE);
    }
    fail_msg("%s after %d us", weir_status_name(a.status), (int)a.took_us);
}

static void assert_allowed(weir_store *store, const char *key, int64_t remaining)
{
    const answer a = take(store, key);
    if (a.status != WEIR_OK) {
        fail_msg("%s", a.error.message);
    }
    assert_true(a.decision.allowed);
    assert_int_equal(a.decision.remaining, remaining);
    assert_int_equal(a.decision.source, WEIR_SOURCE_STORE);
}

static void c013_a_client_that_dies_at_any_byte_leaves_no_key_without_ttl(void **state)
{
    (void)state;
    const weir_script *script = NULL;
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        script = strcmp(weir_scripts[i].name, "sliding_log") == 0 ? &weir_scripts[i] : script;
    }
    test_ask(&server, "SCRIPT LOAD %s", script->body);
    test_ask(&server, "DEL dies");
    char *command;
    const int size =
        redisFormatCommand(&command, "EVALSHA %s 1 dies 1000 60000000 1 2", script->sha1);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, server.path);
    for (int count = 0; count <= size; count++) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(send(fd, command, (size_t)count, MSG_NOSIGNAL), count);
        close(fd);
    }
    redisFreeCommand(command);
    // One event at the most ran, and what ran has a TTL: the server reads sockets in order.
    const long long length = test_ask_number(&server, "LLEN dies");
    assert_true(length == 0 || length == 2);
    assert_true(test_ask_number(&server, "PTTL dies") > 0 || length == 0);
}

static void c051_a_flush_or_a_restart_goes_unnoticed(void **state)
{
    (void)state;
    test_server own;
    SERVER(&own, "--databases", "2");
    weir_store *store = test_redis(own.url, "?deadline=5s");
    assert_allowed(store, "flush", 9);
    test_ask(&own, "SCRIPT FLUSH");
    const long long before = test_ask_number(&own, "INCR counter");
    assert_allowed(store, "flush", 8);
    // The pipeline too: one call brings the script for all.
    test_ask(&own, "SCRIPT FLUSH");
    test_ask(&own, "CONFIG RESETSTAT");
    const weir_check checks[] = {check_of(&window, "flush", 1), check_of(&window, "flush", 1),
                                 check_of(&window, "flush 2", 1)};
    weir_decision rows[3];
    assert_int_equal(weir_store_take_many(store, checks, 3, NOW, rows, NULL), WEIR_OK);
    assert_int_equal(rows[0].remaining, 7);
    assert_int_equal(rows[1].remaining, 6);
    assert_int_equal(rows[2].remaining, 9);
    assert_non_null(strstr(test_ask(&own, "INFO commandstats"), "cmdstat_eval:calls=1,"));
    assert_int_equal(test_ask_number(&own, "INCR counter"), before + 1);
    // A restart that forgets everything.
    const char *const options[] = {"--databases", "2", NULL};
    test_server_restart(&own, options);
    assert_allowed(store, "flush", 9);
    weir_store_close(store);
    test_server_stop(&own);
}

// With SCRIPT FLUSH before each call there is one EVAL and one EVALSHA a call, and one count.
static void c051_each_flush_costs_one_call_more(void **state)
{
    (void)state;
    weir_store *store = test_redis(proxy.url, "?deadline=5s");
    for (int i = 0; i < 5; i++) {
        test_ask(&server, "SCRIPT FLUSH");
        const long calls = test_proxy_calls(&proxy);
        assert_allowed(store, "flushed", 9 - i);
        assert_int_equal(test_proxy_calls(&proxy), calls + 2);
    }
    weir_store_close(store);
}

// A proxy that spreads calls over servers may not know the script twice: then the call brings it.
static void c051_a_script_that_is_never_kept_goes_with_each_call(void **state)
{
    (void)state;
    weir_store *store = test_redis(proxy.url, "?deadline=5s");
    const weir_check checks[] = {check_of(&window, "spread", 1), check_of(&window, "spread", 1)};
    weir_decision rows[2];
    test_ask(&server, "SCRIPT FLUSH");
    test_proxy_set(&proxy, ANSWER, "-NOSCRIPT No matching script. Please use EVAL.\r\n", 4);
    assert_int_equal(weir_store_take_many(store, checks, 2, NOW, rows, NULL), WEIR_OK);
    assert_int_equal(rows[1].remaining, 8);
    // One that says so even then ends as not executed.
    test_proxy_set(&proxy, ANSWER, "-NOSCRIPT No matching script. Please use EVAL.\r\n", 1000000);
    weir_store_close(store);
    store = test_redis(proxy.url, "?deadline=20ms");
    assert_ends(store, "spread", WEIR_NOT_EXECUTED, 20000);
    test_proxy_set(&proxy, PASS, NULL, 0);
    assert_int_equal(used("spread"), 2);
    weir_store_close(store);
}

// The fault befalls a call for the key: whether it ends with the status and in time. Counted it is
// in any case, once, and the next caller gets the next answer.
static bool ends_as(const char *key, test_fault fault, const char *text, weir_status expected,
                    bool to_deadline)
{
    enum { DEADLINE_US = 30000 };
    weir_store *store = test_redis(proxy.url, "?deadline=30ms&connections=1");
    while (take(store, "warm").status != WEIR_OK) { // from here on the script is there
        test_ask(&server, "DEL weir1:{warm}:warm:test:fixed_window");
    }
    const long ran = test_proxy_ran(&proxy);
    test_proxy_set(&proxy, fault, text, 1);
    const answer a = take(store, key);
    test_proxy_await(&proxy, ran + 1);
    test_proxy_set(&proxy, PASS, NULL, 0);
    weir_store_close(store);
    assert_true(a.status == expected || a.status == WEIR_INDETERMINATE);
    assert_int_equal(used(key), 1);
    store = test_redis(proxy.url, "?deadline=5s&connections=1");
    assert_allowed(store, key, 8);
    weir_store_close(store);
    return a.status == expected && a.took_us < DEADLINE_US + GRACE_US &&
           (!to_deadline || a.took_us > DEADLINE_US - GRACE_US);
}

// The server counts, and the reply is lost, late, in pieces or something else.
static void c053_a_call_without_an_answer_is_counted_once_and_not_repeated(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        test_fault fault;
        const char *text;
        weir_status status;
        bool to_deadline;
    } cases[] = {
        {"reply lost", HANG_UP_AFTER, NULL, WEIR_INDETERMINATE, false},
        {"reply cut", HANG_UP_WITHIN, NULL, WEIR_INDETERMINATE, false},
        {"reply late", STALL, NULL, WEIR_INDETERMINATE, true},
        {"reply drips", DRIP, NULL, WEIR_INDETERMINATE, true},
        {"garbage", REPLACE, "\x01\xff garbage\r\n", WEIR_PROTOCOL, false},
        {"page", REPLACE, "HTTP/1.1 502 Bad Gateway\r\n\r\n", WEIR_PROTOCOL, false},
        {"text", REPLACE, "+OK\r\n", WEIR_PROTOCOL, false},
        {"nil", REPLACE, "$-1\r\n", WEIR_PROTOCOL, false},
        {"one number", REPLACE, ":1\r\n", WEIR_PROTOCOL, false},
        {"too few", REPLACE, "*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n", WEIR_PROTOCOL, false},
        {"another limit's", REPLACE, "*6\r\n:1\r\n:11\r\n:9\r\n:0\r\n:1\r\n:0\r\n", WEIR_PROTOCOL,
         false},
        {"out of range", REPLACE, "*6\r\n:1\r\n:10\r\n:99\r\n:0\r\n:1\r\n:0\r\n", WEIR_PROTOCOL,
         false},
        {"a text within", REPLACE, "*6\r\n$1\r\n1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n",
         WEIR_PROTOCOL, false},
        {"a list within", REPLACE, "*6\r\n*1\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n",
         WEIR_PROTOCOL, false},
        {"one reply more", APPEND, "*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n", WEIR_PROTOCOL,
         false},
        {"huge list", REPLACE, "*1000000000\r\n", WEIR_PROTOCOL, false},
        {"endless text", REPLACE, "$1000000\r\nx", WEIR_INDETERMINATE, true},
        {"unknown error", REPLACE, "-HMM what\r\n", WEIR_PROTOCOL, false},
        {"script error", REPLACE, "-ERR Error running script: @user_script:1: nil\r\n",
         WEIR_PROTOCOL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool as_expected = false;
        for (int turn = 0; turn < TRIES && !as_expected; turn++) {
            char key[32];
            snprintf(key, sizeof key, "fault %zu %d", i, turn);
            as_expected =
                ends_as(key, cases[i].fault, cases[i].text, cases[i].status, cases[i].to_deadline);
        }
        if (!as_expected) {
            fail_msg("%s", cases[i].what);
        }
    }
}

static void a_reply_byte_by_byte_is_a_reply(void **state)
{
    (void)state;
    weir_store *store = test_redis(proxy.url, "?deadline=5s");
    assert_allowed(store, "split", 9);
    test_proxy_set(&proxy, SPLIT, NULL, 1);
    assert_allowed(store, "split", 8);
    weir_store_close(store);
}

static void a_pipeline_that_breaks_leaves_each_check_counted_once_or_not(void **state)
{
    (void)state;
    weir_store *store = test_redis(proxy.url, "?deadline=5s");
    assert_allowed(store, "pipe warm", 9);
    enum { COUNT = 40 };
    char keys[COUNT][16];
    weir_check checks[COUNT];
    weir_decision rows[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "pipe %d", i);
        checks[i] = check_of(&window, keys[i], 1);
    }
    test_proxy_set(&proxy, HANG_UP_WITHIN, NULL, 1000);
    weir_error error = {0};
    const weir_status status = weir_store_take_many(store, checks, COUNT, NOW, rows, &error);
    test_proxy_set(&proxy, PASS, NULL, 0);
    assert_int_equal(status, WEIR_INDETERMINATE);
    int answered = 0;
    for (int i = 0; i < COUNT; i++) {
        const int64_t count = used(keys[i]);
        if (rows[i].status == WEIR_OK) {
            assert_int_equal(count, 1);
            answered++;
        } else {
            assert_int_equal(rows[i].status, WEIR_INDETERMINATE);
            assert_in_range(count, 0, 1);
        }
    }
    assert_true(answered < COUNT);
    weir_store_close(store);
}

// A list longer than one pipeline: once the deadline has passed, nothing more is sent.
static void a_list_that_is_late_sends_no_more(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    static weir_check checks[COUNT];
    static weir_decision rows[COUNT];
    weir_store *store = test_redis(proxy.url, "?deadline=60ms");
    for (int i = 0; i < COUNT; i++) {
        checks[i] = check_of(&window, "late list", 0);
    }
    long calls = 0;
    for (int turn = 0; turn < TRIES; turn++) { // until the first pipeline is under way in time
        calls = test_proxy_calls(&proxy);
        test_proxy_set(&proxy, DEAF, NULL, 1000000);
        assert_true(weir_store_take_many(store, checks, COUNT, NOW, rows, NULL) < 0);
        if (rows[0].status == WEIR_INDETERMINATE) {
            break;
        }
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(rows[i].status, i < 256 ? WEIR_INDETERMINATE : WEIR_NOT_EXECUTED);
    }
    test_proxy_set(&proxy, PASS, NULL, 0);
    assert_true(test_proxy_calls(&proxy) <= calls + 256);
    weir_store_close(store);
}

static void c063_a_demoted_primary_is_left_for_the_one_at_its_address(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "-READONLY You can't write against a read only replica.\r\n",
        "-ERR Error running script (call to f_1f): @user_script:5: @user_script: 5: -READONLY You "
        "can't write against a read only replica.\r\n",
    };
    for (int i = 0; i < 2; i++) { // both spellings, by a server that is told what to say
        weir_store *store = test_redis(proxy.url, "?deadline=5s");
        const long connections = test_proxy_connections(&proxy);
        test_proxy_set(&proxy, ANSWER, spellings[i], 1);
        assert_allowed(store, "spelling", 9 - i);
        assert_int_equal(test_proxy_connections(&proxy), connections + 2);
        weir_store_close(store);
    }
    test_server old, fresh; // and by a real one
    SERVER(&old, "--databases", "2");
    SERVER(&fresh, "--databases", "2");
    test_proxy between;
    test_proxy_start(&between, &old);
    weir_store *store = test_redis(between.url, "?deadline=5s&connections=1");
    assert_allowed(store, "demoted", 9);
    test_ask(&old, "REPLICAOF 127.0.0.1 1");
    test_proxy_turn(&between, &fresh);
    assert_allowed(store, "demoted", 9);
    assert_allowed(store, "demoted", 8);
    assert_int_equal(test_proxy_connections(&between), 2);
    weir_store_close(store);
    test_proxy_stop(&between);
    test_server_stop(&old);
    test_server_stop(&fresh);
}

static void c064_a_server_that_loads_is_waited_for_within_the_deadline(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        weir_status status;
    } cases[] = {
        {"-LOADING Redis is loading the dataset in memory\r\n", WEIR_LOADING},
        {"-MASTERDOWN Link with MASTER is down\r\n", WEIR_NOT_EXECUTED},
        {"-CLUSTERDOWN The cluster is down\r\n", WEIR_NOT_EXECUTED},
        {"-TRYAGAIN Multiple keys request during rehashing of slot\r\n", WEIR_NOT_EXECUTED},
        {"-BUSY Redis is busy running a script.\r\n", WEIR_BUSY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_store *patient = test_redis(proxy.url, "?deadline=5s");
        weir_store *hasty = test_redis(proxy.url, "?deadline=50ms");
        char key[32];
        snprintf(key, sizeof key, "loading %zu", i);
        test_proxy_set(&proxy, ANSWER, cases[i].text, 5);
        assert_allowed(patient, key, 9);
        test_proxy_set(&proxy, ANSWER, cases[i].text, 1000000);
        assert_ends(hasty, key, cases[i].status, 50000);
        test_proxy_set(&proxy, PASS, NULL, 0);
        assert_int_equal(used(key), 1);
        weir_store_close(patient);
        weir_store_close(hasty);
    }
}

static void c065_a_busy_server_is_left_alone(void **state)
{
    (void)state;
    test_server busy;
    SERVER(&busy, "--busy-reply-threshold", "1");
    weir_store *store = test_redis(busy.url, "?deadline=5s");
    assert_allowed(store, "busy", 9);
    weir_store_close(store);
    store = test_redis(busy.url, "?deadline=100ms");
    redisContext *loop = redisConnectUnix(busy.path);
    redisAppendCommand(loop, "EVAL %s 0", "while true do end");
    int done = 0;
    while (!done) {
        assert_int_equal(redisBufferWrite(loop, &done), REDIS_OK);
    }
    while (strncmp(test_ask(&busy, "PING"), "BUSY", 4) != 0) {
    }
    assert_ends(store, "busy", WEIR_BUSY, 100000);
    assert_string_equal(test_ask(&busy, "SCRIPT KILL"), "OK"); // still running: nobody killed it
    redisFree(loop);
    weir_store_close(store);
    store = test_redis(busy.url, "?deadline=5s");
    assert_allowed(store, "busy", 8);
    weir_store_close(store);
    test_server_stop(&busy);
}

static void c067_a_late_reply_is_nobody_s(void **state)
{
    (void)state;
    weir_store *store = test_redis(proxy.url, "?deadline=1s&connections=1");
    const weir_limit once =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_DAY);
    assert_true(test_take(store, &once, "late a", 1, NOW).allowed);
    const weir_check a = check_of(&once, "late a", 1);
    weir_decision d;
    const long ran = test_proxy_ran(&proxy);
    test_proxy_set(&proxy, STALL, NULL, 1);
    assert_int_equal(weir_store_take(store, &a, NOW, &d, NULL), WEIR_INDETERMINATE);
    test_proxy_await(&proxy, ran + 1);
    // The reply, a refusal of a, may come while b is asked for, or after.
    assert_true(test_take(store, &once, "late b", 1, NOW).allowed);
    test_proxy_set(&proxy, PASS, NULL, 0);
    assert_true(test_take(store, &once, "late c", 1, NOW).allowed);
    assert_false(test_take(store, &once, "late a", 1, NOW).allowed);
    weir_store_close(store);
}

static void c068_a_peer_that_hangs_up_is_an_error_and_then_forgotten(void **state)
{
    (void)state;
    static const test_fault faults[] = {HANG_UP_BEFORE, HANG_UP_AFTER, HANG_UP_WITHIN};
    weir_store *store = test_redis(proxy.url, "?deadline=5s&connections=1");
    assert_allowed(store, "hang", 9);
    int64_t count = 1;
    for (int i = 0; i < 3; i++) {
        test_proxy_set(&proxy, faults[i], NULL, 1);
        const answer a = take(store, "hang"); // ends when the proxy hangs up, after the server ran
        assert_int_equal(a.status, WEIR_INDETERMINATE);
        assert_true(strlen(a.error.message) > 10);
        count += faults[i] != HANG_UP_BEFORE;
        assert_int_equal(used("hang"), count);
    }
    assert_allowed(store, "hang", 10 - ++count);
    weir_store_close(store);
}

static void c072_a_new_connection_has_password_and_db_of_the_old(void **state)
{
    (void)state;
    test_server own;
    SERVER(&own, "--databases", "4");
    test_ask(&own, "ACL SETUSER app on >secret ~* +@all");
    weir_store *store = test_redis(own.url, "?deadline=5s&user=app&password=secret&db=3&name=shop");
    assert_allowed(store, "again", 9);
    assert_allowed(store, "again", 8);
    for (int i = 0; i < 2; i++) {
        assert_non_null(strstr(test_ask(&own, "CLIENT LIST"), "name=shop"));
        test_ask(&own, "CLIENT KILL USER app");
        assert_allowed(store, "again", 7 - i);
    }
    assert_non_null(strstr(test_ask(&own, "INFO keyspace"), "db3:keys=1"));
    assert_null(strstr(test_ask(&own, "INFO keyspace"), "db0"));
    test_ask(&own, "ACL SETUSER app on resetpass >other");
    test_ask(&own, "CLIENT KILL USER app");
    assert_int_equal(take(store, "again").status, WEIR_WRONG_PASSWORD);
    weir_store_close(store);
    test_server_stop(&own);
}

static void c075_what_stands_in_for_the_store_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        weir_status status;
        bool allowed;
        weir_source source;
    } modes[] = {
        {"?deadline=20ms", WEIR_INDETERMINATE, false, WEIR_SOURCE_STORE},
        {"?deadline=20ms&on_error=error", WEIR_INDETERMINATE, false, WEIR_SOURCE_STORE},
        {"?deadline=20ms&on_error=deny", WEIR_OK, false, WEIR_SOURCE_DENY_ON_ERROR},
        {"?deadline=20ms&on_error=allow", WEIR_OK, true, WEIR_SOURCE_ALLOW_ON_ERROR},
    };
    for (int i = 0; i < 4; i++) {
        weir_store *store = test_redis(proxy.url, modes[i].query);
        const weir_check checks[2] = {check_of(&window, "fail 1", 1),
                                      check_of(&window, "fail 2", 1)};
        test_proxy_set(&proxy, DEAF, NULL, 1000000);
        weir_decision d[4], rows[2];
        weir_error error[4] = {0};
        const weir_status got[4] = {
            weir_store_take(store, checks, NOW, &d[0], &error[0]),
            weir_store_take_all(store, checks, 2, NOW, &d[1], rows, &error[1]),
            weir_store_take_many(store, checks, 1, NOW, &d[2], &error[2]),
            weir_store_peek(store, checks, NOW, &d[3], &error[3]),
        };
        for (int k = 0; k < 4; k++) {
            assert_int_equal(got[k], modes[i].status == WEIR_OK ? WEIR_OK : error[k].status);
            // The reason, in any case.
            assert_true(error[k].status == WEIR_INDETERMINATE ||
                        error[k].status == WEIR_NOT_EXECUTED);
            if (got[k] == WEIR_OK) {
                assert_int_equal(d[k].allowed, modes[i].allowed);
                assert_int_equal(d[k].source, modes[i].source);
                assert_int_equal(d[k].retry_after_us, modes[i].allowed ? 0 : WEIR_SECOND);
            }
        }
        // What only records is never made up.
        assert_true(weir_store_refund(store, checks, NOW, d, NULL) < 0);
        assert_true(weir_store_charge(store, checks, NOW, d, NULL) < 0);
        assert_true(weir_store_reset(store, checks, NULL) < 0);
        weir_store_close(store);
        test_proxy_set(&proxy, REPLACE, "+OK\r\n", 1000000); // a reply that is none is no outage
        char query[64];
        snprintf(query, sizeof query, "?deadline=5s%s", modes[i].query + strlen("?deadline=20ms"));
        store = test_redis(proxy.url, query);
        assert_int_equal(weir_store_take(store, checks, NOW, d, NULL), WEIR_PROTOCOL);
        weir_store_close(store);
    }
}

static void a_server_that_is_away_is_not_executed(void **state)
{
    (void)state;
    char port[8], url[64];
    snprintf(url, sizeof url, "redis://127.0.0.1:%s", test_free_port(port));
    const char *const urls[] = {url, "redis+unix:///nowhere/at/all"};
    for (int i = 0; i < 2; i++) {
        weir_store *store = test_redis(urls[i], "?deadline=5s");
        const answer a = take(store, "away");
        assert_int_equal(a.status, WEIR_NOT_EXECUTED);
        assert_non_null(strstr(a.error.message, "can't be reached"));
        assert_true(a.took_us < WEIR_SECOND); // it is known at once
        weir_store_close(store);
    }
}

// A listener that takes connections and says nothing, or whose queue is full.
static void a_peer_that_says_nothing_ends_at_the_deadline(void **state)
{
    (void)state;
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/mute", server.folder);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 0), 0);
    char url[160];
    snprintf(url, sizeof url, "redis+unix://%s?deadline=30ms", address.sun_path);
    weir_store *stores[3];
    for (int i = 0; i < 3; i++) { // the third finds the queue full
        stores[i] = test_redis(url, "");
        assert_ends(stores[i], "mute", WEIR_NOT_EXECUTED, 30000);
    }
    for (int i = 0; i < 3; i++) {
        weir_store_close(stores[i]);
    }
    close(listener);
    unlink(address.sun_path);
}

typedef struct oracle {
    int listener;
    const char *says;
} oracle;

static void *say(void *argument)
{
    const oracle *o = argument;
    const int fd = accept(o->listener, NULL, NULL);
    char bytes[512];
    if (recv(fd, bytes, sizeof bytes, 0) > 0) {
        send(fd, o->says, strlen(o->says), MSG_NOSIGNAL);
    }
    recv(fd, bytes, sizeof bytes, 0);
    close(fd);
    return NULL;
}

static void a_server_that_is_not_redis_is_told_from_one(void **state)
{
    (void)state;
    static const struct {
        const char *says, *query;
        weir_status status;
    } cases[] = {
        {"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n", "?deadline=5s", WEIR_NOT_REDIS},
        {"220 mail.example ESMTP\r\n", "?deadline=5s&on_error=allow", WEIR_NOT_REDIS},
        {"*1\r\n$4\r\nsecret\r\n", "?deadline=5s&password=secret", WEIR_NOT_REDIS},
        {"-ERR unknown command 'AUTH', with args beginning with: 'secret'\r\n+OK\r\n",
         "?deadline=5s&password=secret&on_error=allow", WEIR_NOT_PERMITTED},
        {"-secret\r\n+OK\r\n", "?deadline=5s&password=secret", WEIR_NOT_REDIS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        oracle o = {socket(AF_UNIX, SOCK_STREAM, 0), cases[i].says};
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s/oracle", server.folder);
        assert_int_equal(bind(o.listener, (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(listen(o.listener, 4), 0);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, say, &o), 0);
        char url[160];
        snprintf(url, sizeof url, "redis+unix://%s%s", address.sun_path, cases[i].query);
        weir_store *store = test_redis(url, "");
        const answer a = take(store, "oracle");
        if (a.status != cases[i].status) {
            fail_msg("%s: %s", cases[i].says, a.error.message);
        }
        assert_null(strstr(a.error.message, "secret"));
        weir_store_close(store);
        pthread_join(thread, NULL);
        close(o.listener);
        unlink(address.sun_path);
    }
}

static void an_idle_connection_that_was_closed_is_replaced(void **state)
{
    (void)state;
    char tcp[64];
    snprintf(tcp, sizeof tcp, "redis://127.0.0.1:%d", server.port);
    const char *const urls[] = {server.url, tcp};
    for (int i = 0; i < 2; i++) {
        weir_store *store = test_redis(urls[i], "?deadline=5s&connections=1");
        test_ask(&server, "FLUSHALL");
        for (int k = 0; k < 10; k++) {
            assert_allowed(store, "idle", 9 - k);
            test_ask(&server, "CLIENT KILL TYPE normal");
        }
        weir_store_close(store);
    }
}

// Bytes that nobody asked for are no reply to the next call.
static void a_connection_with_something_to_read_does_not_stand(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    static weir_connection connection;
    connection.fd = fds[0];
    assert_true(weir_connection_stands(&connection));
    assert_int_equal(write(fds[1], ":1\r\n", 4), 4);
    assert_false(weir_connection_stands(&connection));
    close(fds[1]);
    weir_connection_close(&connection);
}

static void ignore(void *context, const weir_reply *reply)
{
    (void)context;
    (void)reply;
}

// The peer is gone before the first byte: no signal, and it is known that nothing was sent.
static void sending_to_nobody_raises_no_signal(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    close(fds[1]);
    static weir_connection connection;
    connection.fd = fds[0];
    connection.reader = weir_reader_open(&connection.reply);
    weir_command_begin(&connection.out, 1);
    weir_command_text(&connection.out, "PING");
    size_t sent = 1;
    assert_false(weir_connection_stands(&connection));
    const int64_t deadline_us = weir_monotonic_us() + WEIR_SECOND;
    assert_int_equal(weir_connection_exchange(&connection, 1, ignore, NULL, deadline_us, &sent),
                     WEIR_EXCHANGE_CLOSED);
    assert_int_equal(sent, 0);
    weir_connection_close(&connection);
    weir_buffer_free(&connection.out);
}

static void nothing(int signal)
{
    (void)signal;
}

// A peer that is gone must not end the process; alarms all the while must not end a call.
static void signals_do_no_harm(void **state)
{
    (void)state;
    test_ask(&server, "FLUSHALL");
    signal(SIGPIPE, SIG_DFL);
    struct sigaction action = {.sa_handler = nothing}; // without SA_RESTART
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    weir_store *store = test_redis(proxy.url, "?deadline=30ms&connections=1");
    for (int i = 0; i < 3; i++) {
        test_proxy_set(&proxy, i == 1 ? STALL : HANG_UP_BEFORE, NULL, 1000000);
        assert_ends(store, "signals", WEIR_INDETERMINATE, 30000);
        test_proxy_set(&proxy, PASS, NULL, 0);
        assert_ends(store, "signals", WEIR_OK, 30000);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(c013_a_client_that_dies_at_any_byte_leaves_no_key_without_ttl,
                               reset),
        cmocka_unit_test_setup(c051_a_flush_or_a_restart_goes_unnoticed, reset),
        cmocka_unit_test_setup(c051_each_flush_costs_one_call_more, reset),
        cmocka_unit_test_setup(c051_a_script_that_is_never_kept_goes_with_each_call, reset),
        cmocka_unit_test_setup(c053_a_call_without_an_answer_is_counted_once_and_not_repeated,
                               reset),
        cmocka_unit_test_setup(a_reply_byte_by_byte_is_a_reply, reset),
        cmocka_unit_test_setup(a_pipeline_that_breaks_leaves_each_check_counted_once_or_not, reset),
        cmocka_unit_test_setup(a_list_that_is_late_sends_no_more, reset),
        cmocka_unit_test_setup(c063_a_demoted_primary_is_left_for_the_one_at_its_address, reset),
        cmocka_unit_test_setup(c064_a_server_that_loads_is_waited_for_within_the_deadline, reset),
        cmocka_unit_test_setup(c065_a_busy_server_is_left_alone, reset),
        cmocka_unit_test_setup(c067_a_late_reply_is_nobody_s, reset),
        cmocka_unit_test_setup(c068_a_peer_that_hangs_up_is_an_error_and_then_forgotten, reset),
        cmocka_unit_test_setup(c072_a_new_connection_has_password_and_db_of_the_old, reset),
        cmocka_unit_test_setup(c075_what_stands_in_for_the_store_says_so, reset),
        cmocka_unit_test_setup(a_server_that_is_away_is_not_executed, reset),
        cmocka_unit_test_setup(a_peer_that_says_nothing_ends_at_the_deadline, reset),
        cmocka_unit_test_setup(a_server_that_is_not_redis_is_told_from_one, reset),
        cmocka_unit_test_setup(an_idle_connection_that_was_closed_is_replaced, reset),
        cmocka_unit_test_setup(a_connection_with_something_to_read_does_not_stand, reset),
        cmocka_unit_test_setup(sending_to_nobody_raises_no_signal, reset),
        cmocka_unit_test_setup(signals_do_no_harm, reset),
    };
    return cmocka_run_group_tests_name("redis faults", tests, start, stop);
}
