// URLs and options: what they mean, and that no sentence gives a password away.

#include "support.h"

#include "store/redis/settings.h"

static weir_settings settings_of(const char *url)
{
    weir_settings settings;
    weir_error error = {0};
    if (weir_settings_init(&settings, &(weir_redis_options){.url = url}, &error) != WEIR_OK) {
        fail_msg("%s: %s", url, error.message);
    }
    return settings;
}

static void every_part_of_a_url_is_read(void **state)
{
    (void)state;
    const weir_settings s =
        settings_of("redis://app:p%40ss%3Aw@redis.example:6380/3?deadline=1.5s&connections=2&"
                    "on_error=deny&name=shop&cluster=no");
    assert_string_equal(s.user, "app");
    assert_string_equal(s.password, "p@ss:w");
    assert_string_equal(s.host, "redis.example");
    assert_int_equal(s.port, 6380);
    assert_int_equal(s.db, 3);
    assert_int_equal(s.deadline_us, 1500000);
    assert_int_equal(s.connections, 2);
    assert_int_equal(s.on_error, WEIR_ON_ERROR_DENY);
    assert_string_equal(s.name, "shop");
    assert_false(s.cluster);
    assert_string_equal(s.address, "redis.example:6380");
}

static void what_a_url_leaves_out_has_a_default(void **state)
{
    (void)state;
    const char *const urls[] = {"redis://", "redis:///", "redis://127.0.0.1", "redis://?db=0",
                                NULL};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        const weir_settings s = settings_of(urls[i]);
        assert_string_equal(s.address, "127.0.0.1:6379");
        assert_int_equal(s.db, 0);
        assert_string_equal(s.password, "");
        assert_string_equal(s.name, "weir");
        assert_int_equal(s.deadline_us, 250000);
        assert_int_equal(s.connections, 8);
        assert_int_equal(s.on_error, WEIR_ON_ERROR_FAIL);
    }
}

static void sockets_and_ipv6_have_urls(void **state)
{
    (void)state;
    weir_settings s = settings_of("redis+unix:///run/my%20redis.sock?db=2&password=x&user=u");
    assert_string_equal(s.path, "/run/my redis.sock");
    assert_string_equal(s.address, "/run/my redis.sock");
    assert_int_equal(s.db, 2);
    assert_string_equal(s.user, "u");
    s = settings_of("redis+unix://:secret@/run/redis.sock");
    assert_string_equal(s.path, "/run/redis.sock");
    assert_string_equal(s.password, "secret");
    s = settings_of("redis://[::1]:7000/1");
    assert_string_equal(s.host, "::1");
    assert_int_equal(s.port, 7000);
    assert_string_equal(s.address, "[::1]:7000");
}

static void options_win_over_the_url(void **state)
{
    (void)state;
    weir_settings s;
    const weir_redis_options options = {
        .url = "redis://a:b@h/1?deadline=1s&connections=3&on_error=allow&name=n",
        .user = "c",
        .password = "d",
        .name = "m",
        .deadline_us = 7,
        .connections = 4,
        .on_error = WEIR_ON_ERROR_DENY,
    };
    assert_int_equal(weir_settings_init(&s, &options, NULL), WEIR_OK);
    assert_string_equal(s.user, "c");
    assert_string_equal(s.password, "d");
    assert_string_equal(s.name, "m");
    assert_int_equal(s.deadline_us, 7);
    assert_int_equal(s.connections, 4);
    assert_int_equal(s.on_error, WEIR_ON_ERROR_DENY);
}

// Each has the word "secret" where somebody might put a password by mistake.
static void a_wrong_url_is_refused_and_not_repeated(void **state)
{
    (void)state;
    const char *const urls[] = {
        "secret",
        "http://secret/",
        "rediss://:secret@h",
        "redis://secret@h",
        "redis://u:secret",
        "redis://u:secret/x@h",
        "redis://u:p?secret@h",
        "redis://:%secret@h",
        "redis://:secret%00@h",
        "redis://:secret%4@h",
        "redis://h/secret",
        "redis://h/1/secret",
        "redis://h/-1",
        "redis://h/1e3",
        "redis://h/100000",
        "redis://h:0",
        "redis://h:65536",
        "redis://h: 1",
        "redis://[::1",
        "redis://[::1]secret",
        "redis+unix://secret",
        "redis+unix://secret/path",
        "redis+unix://",
        "redis+unix:///",
        "redis://h?secret",
        "redis://h?secret=1",
        "redis://h?db=",
        "redis://h?db=1&db=1",
        "redis://h?deadline=secret",
        "redis://h?deadline=0s",
        "redis://h?deadline=2h",
        "redis://h?connections=0",
        "redis://h?connections=1025",
        "redis://h?on_error=secret",
        "redis://h?cluster=secret",
        "redis://h/1?cluster=yes",
        "redis://h?name=a%20b",
        "redis://h?user=u",
        "redis+unix:///"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        weir_settings settings;
        weir_error error = {0};
        const weir_redis_options options = {.url = urls[i]};
        if (weir_settings_init(&settings, &options, &error) != WEIR_INVALID) {
            fail_msg("%s was taken", urls[i]);
        }
        assert_true(strlen(error.message) > 10);
        assert_null(strstr(error.message, "secret"));
    }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const weir_redis_options wrong[] = {
        {.user = "u"},
        {.deadline_us = -1},
        {.deadline_us = WEIR_HOUR + 1},
        {.connections = 1025},
        {.on_error = (weir_on_error)3},
        {.on_error = (weir_on_error)-1},
        {.name = "a\nb"},
        {.reserved = {0, 0, 0, 1}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weir_store *store = NULL;
        assert_int_equal(weir_redis_open(&store, &wrong[i], NULL), WEIR_INVALID);
        assert_null(store);
    }
    char long_password[2000];
    memset(long_password, 'x', sizeof long_password);
    long_password[sizeof long_password - 1] = '\0';
    weir_settings settings;
    const weir_redis_options options = {.password = long_password};
    assert_int_equal(weir_settings_init(&settings, &options, NULL), WEIR_INVALID);
}

// A store may be made where no socket may be opened; who connects is the first call.
static void c175_opening_connects_to_nothing(void **state)
{
    (void)state;
    weir_store *store = NULL;
    const weir_redis_options options = {.url = "redis+unix:///nowhere/at/all"};
    assert_int_equal(weir_redis_open(&store, &options, NULL), WEIR_OK);
    assert_true(weir_store_now_us(store) > NOW);
    weir_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_of_a_url_is_read),
        cmocka_unit_test(what_a_url_leaves_out_has_a_default),
        cmocka_unit_test(sockets_and_ipv6_have_urls),
        cmocka_unit_test(options_win_over_the_url),
        cmocka_unit_test(a_wrong_url_is_refused_and_not_repeated),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(c175_opening_connects_to_nothing),
    };
    return cmocka_run_group_tests_name("redis urls", tests, NULL, NULL);
}
