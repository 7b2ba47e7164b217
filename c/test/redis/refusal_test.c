// The errors of servers, in both spellings, and replies that are none.

#include "support.h"

#include <hiredis.h>

#include "store/redis/refusal.h"
#include "store/redis/reply.h"
#include "store/redis/row.h"

static void each_refusal_has_its_status(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        weir_status status;
        bool again, drop;
    } cases[] = {
        {"LOADING Redis is loading the dataset in memory", WEIR_LOADING, true, false},
        {"BUSY Redis is busy running a script.", WEIR_BUSY, true, false},
        {"READONLY You can't write against a read only replica.", WEIR_READONLY, true, true},
        {"READONLY You can't write against a read only replica. script: 1f, on @user_script:3.",
         WEIR_READONLY, true, true},
        {"ERR Error running script (call to f_1f): @user_script:5: @user_script: 5: -READONLY You "
         "can't write against a read only replica.",
         WEIR_READONLY, true, true},
        {"ERR Error running script (call to f_1f): @user_script:5: -OOM command not allowed",
         WEIR_SERVER_FULL, false, false},
        {"OOM command not allowed when used memory > 'maxmemory'.", WEIR_SERVER_FULL, false, false},
        {"MISCONF Redis is configured to save RDB snapshots", WEIR_NOT_EXECUTED, false, false},
        {"MASTERDOWN Link with MASTER is down", WEIR_NOT_EXECUTED, true, true},
        {"CLUSTERDOWN The cluster is down", WEIR_NOT_EXECUTED, true, false},
        {"TRYAGAIN Multiple keys request during rehashing of slot", WEIR_NOT_EXECUTED, true, false},
        {"ERR max number of clients reached", WEIR_NOT_EXECUTED, true, true},
        {"WRONGPASS invalid username-password pair", WEIR_WRONG_PASSWORD, false, true},
        {"NOAUTH Authentication required.", WEIR_WRONG_PASSWORD, false, true},
        {"ERR invalid password", WEIR_WRONG_PASSWORD, false, true},
        {"ERR Client sent AUTH, but no password is set", WEIR_WRONG_PASSWORD, false, true},
        {"ERR DB index is out of range", WEIR_WRONG_DB, false, true},
        {"NOPERM this user has no permissions to run the 'evalsha' command", WEIR_NOT_PERMITTED,
         false, false},
        {"ERR ACL failure in script: User a has no permissions to run the 'get' command",
         WEIR_NOT_PERMITTED, false, false},
        {"ERR Error running script (call to f_1f): @user_script:5: @user_script: 5: The user "
         "executing the script can't run this command or subcommand",
         WEIR_NOT_PERMITTED, false, false},
        {"ERR The user executing the script can't run this command or subcommand script: 1f",
         WEIR_NOT_PERMITTED, false, false},
        {"ERR unknown command `EVALSHA`, with args beginning with: ", WEIR_NOT_PERMITTED, false,
         false},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", WEIR_STATE, false,
         false},
        {"WEIR_STATE the key holds a value that min_gap did not write", WEIR_STATE, false, false},
        {"WEIR_INVALID cost was \"x\"", WEIR_INVALID, false, false},
        {"MOVED 866 127.0.0.1:7001", WEIR_WRONG_NODE, false, false},
        {"ASK 866 127.0.0.1:7001", WEIR_WRONG_NODE, false, false},
        {"CROSSSLOT Keys in request don't hash to the same slot", WEIR_CROSS_SLOT, false, false},
        {"ERR Error running script (call to f_1f): @user_script:5: attempt to index a nil value",
         WEIR_PROTOCOL, false, false},
        {"ERR something else", WEIR_PROTOCOL, false, false},
        {"READONLYISH", WEIR_PROTOCOL, false, true},
        {"", WEIR_PROTOCOL, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const weir_refusal *refusal = weir_refusal_of(cases[i].text);
        if (refusal->status != cases[i].status || refusal->again != cases[i].again ||
            refusal->drop != cases[i].drop) {
            fail_msg("%s was taken for %s", cases[i].text, weir_status_name(refusal->status));
        }
        assert_false(weir_refusal_is_no_script(refusal));
    }
    assert_true(weir_refusal_is_no_script(
        weir_refusal_of("NOSCRIPT No matching script. Please use EVAL.")));
}

static weir_read read_text(const char *text, weir_reply *reply)
{
    redisReader *reader = weir_reader_open(reply);
    assert_non_null(reader);
    assert_int_equal(redisReaderFeed(reader, text, strlen(text)), REDIS_OK);
    const weir_read read = weir_reader_next(reader, reply);
    redisReaderFree(reader);
    return read;
}

static void only_a_whole_row_in_range_is_an_answer(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_MINUTE);
    const weir_check check = {&limit, WEIR_TEXT("k"), .cost = 1};
#define ROW(a, b, c, d, e, f)                                                                      \
    "*6\r\n:" #a "\r\n:" #b "\r\n:" #c "\r\n:" #d "\r\n:" #e "\r\n:" #f "\r\n"
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {ROW(1, 10, 9, 0, 60000000, 0), true},
        {ROW(0, 10, 0, 5, 5, 0), true},
        {ROW(0, 10, 0, -1, 5, 0), true},
        {"*7\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6\r\n:0\r\n:99\r\n", true}, // grown at its end
        {ROW(2, 10, 9, 0, 6, 0), false},
        {ROW(-1, 10, 9, 0, 6, 0), false},
        {ROW(1, 11, 9, 0, 6, 0), false},
        {ROW(1, 10, 11, 0, 6, 0), false},
        {ROW(1, 10, -1, 0, 6, 0), false},
        {ROW(1, 10, 9, 1, 6, 0), false},
        {ROW(0, 10, 9, 0, 6, 0), false},
        {ROW(0, 10, 9, -2, 6, 0), false},
        {ROW(0, 10, 9, 9223372036854775807, 6, 0), false},
        {ROW(1, 10, 9, 0, -1, 0), false},
        {ROW(1, 10, 9, 0, 6, 1), false},
        {"*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6\r\n", false},
        {"*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6\r\n$1\r\n0\r\n", false},
        {"*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6\r\n$-1\r\n", false},
        {"*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:6\r\n*0\r\n", false},
        {"*0\r\n", false},
        {"*-1\r\n", false},
        {":1\r\n", false},
        {"+OK\r\n", false},
        {"$6\r\n:1\r\n:2\r\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_reply reply = {0};
        weir_decision decision;
        const bool good = read_text(cases[i].text, &reply) == WEIR_READ_REPLY &&
                          weir_row_read(&reply, WEIR_VERB_TAKE, &check, &decision);
        if (good != cases[i].good) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void the_joint_answer_must_fit_its_rows(void **state)
{
    (void)state;
    const weir_limit limit =
        LIMIT(.algorithm = WEIR_FIXED_WINDOW, .limit = 10, .window_us = WEIR_MINUTE);
    const weir_check checks[2] = {{&limit, WEIR_TEXT("k"), .cost = 1},
                                  {&limit, WEIR_TEXT("l"), .cost = 1}};
    weir_reply reply = {.kind = WEIR_REPLY_LIST,
                        .count = 14,
                        .numbers = {0, 1, 1, 10, 9, 0, 6, 0, 0, 10, 0, 7, 7, 0}};
    weir_decision joint, rows[2];
    assert_true(weir_rows_read(&reply, checks, 2, &joint, rows));
    assert_false(joint.allowed);
    assert_int_equal(joint.binding, 1);
    assert_int_equal(joint.retry_after_us, 7);
    reply.numbers[1] = 0;
    assert_false(weir_rows_read(&reply, checks, 2, &joint, rows));
    reply.numbers[0] = reply.numbers[1] = 1;
    assert_false(weir_rows_read(&reply, checks, 2, &joint, rows));
    reply.numbers[0] = 0;
    reply.count = 13;
    assert_false(weir_rows_read(&reply, checks, 2, &joint, rows));
}

static void what_no_redis_sends_stops_the_parser(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "HTTP/1.1 400 Bad Request\r\n", "220 smtp ready\r\n", "*9999999\r\n",
        "*1\r\n*1\r\n:1\r\n",           ":12x\r\n",           "\r\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        weir_reply reply = {0};
        assert_int_equal(read_text(cases[i], &reply), WEIR_READ_WRONG);
    }
    weir_reply reply = {0};
    assert_int_equal(read_text("*6\r\n:1\r\n:1", &reply), WEIR_READ_MORE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_refusal_has_its_status),
        cmocka_unit_test(only_a_whole_row_in_range_is_an_answer),
        cmocka_unit_test(the_joint_answer_must_fit_its_rows),
        cmocka_unit_test(what_no_redis_sends_stops_the_parser),
    };
    return cmocka_run_group_tests_name("redis refusals", tests, NULL, NULL);
}
