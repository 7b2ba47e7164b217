// Names on the server: what differs for the caller differs there, whatever its bytes.

#include "support.h"

#include "store/sha256.h"
#include "weir/key.h"

static const char *key_of(const char *name, const void *key, size_t size, const void *tag,
                          size_t tag_size)
{
    static char out[4][WEIR_KEY_ROOM];
    static unsigned turn;
    const weir_limit limit = test_limit(
        &(weir_limit_options){.name = name, .algorithm = WEIR_MIN_GAP, .gap_us = WEIR_SECOND});
    const weir_check check = {&limit, key, size, .cost = 1, .tag = tag, .tag_size = tag_size};
    char *made = out[turn++ % 4];
    const size_t length = weir_check_key(&check, made);
    assert_int_equal(length, strlen(made));
    assert_true(length < WEIR_KEY_ROOM);
    return made;
}

static void a_key_says_tag_key_limit_and_algorithm(void **state)
{
    (void)state;
    assert_string_equal(key_of("login", "bob", 3, NULL, 0), "weir1:{bob}:bob:login:min_gap");
    assert_string_equal(key_of("login", "bob", 3, "shop 7", 6),
                        "weir1:{shop%207}:bob:login:min_gap");
    assert_string_equal(key_of("a:b%", "{x}\n\xff", 5, NULL, 0),
                        "weir1:{%7Bx%7D%0A%FF}:%7Bx%7D%0A%FF:a%3Ab%25:min_gap");
}

static void c094_what_differs_for_the_caller_has_different_keys(void **state)
{
    (void)state;
    static const struct {
        const char *name, *key, *tag;
    } cases[] = {
        {"l", "a:b", NULL},
        {"l", "a", NULL},
        {"b:l", "a", NULL},
        {"l", "a%3Ab", NULL},
        {"l", "ab", NULL},
        {"l", "a}b", NULL},
        {"l", "a%7Db", NULL},
        {"l", "a", "b"},
        {"l", "b", "a"},
        {"l", "a:b", "a"},
        {"l", "b", "a:a"},
        {"ip", "127.0.0.1", NULL},
        {"user", "127.0.0.1", NULL},
        {"l", "%#", NULL},
        {"l", "{a}", NULL},
        {"l", "}", NULL},
        {"l", "{", NULL},
        {"l", "{}", NULL},
        {"l", " a", NULL},
        {"l", "A", NULL},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    static char keys[COUNT][WEIR_KEY_ROOM];
    for (int i = 0; i < COUNT; i++) {
        const char *tag = cases[i].tag;
        strcpy(keys[i], key_of(cases[i].name, cases[i].key, strlen(cases[i].key), tag,
                               tag != NULL ? strlen(tag) : 0));
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(keys[i], keys[k]);
        }
    }
}

// The part between the first { and the next } places the key, so there must be one of each.
static void braces_of_a_key_never_move_its_slot(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        const char text[3] = {(char)byte, 'x', (char)byte};
        const char *key = key_of("l", text, 3, NULL, 0);
        assert_ptr_equal(strchr(key, '{'), strrchr(key, '{'));
        assert_ptr_equal(strchr(key, '}'), strrchr(key, '}'));
        assert_true(strchr(key, '}') - strchr(key, '{') > 1);
        for (const char *c = key; *c != '\0'; c++) {
            assert_true(*c > ' ' && *c < 127);
        }
    }
}

static void c096_long_keys_are_kept_apart_by_a_digest(void **state)
{
    (void)state;
    static char text[1 << 20];
    memset(text, 'x', sizeof text);
    static char one[WEIR_KEY_ROOM], two[WEIR_KEY_ROOM];
    text[1000] = 'a';
    strcpy(one, key_of("l", text, 1001, NULL, 0));
    text[1000] = 'b';
    strcpy(two, key_of("l", text, 1001, NULL, 0));
    assert_string_not_equal(one, two);
    assert_int_equal(strlen(one), strlen("weir1:{}::l:min_gap") + 2 * 66);
    assert_true(strlen(key_of("l", text, sizeof text, NULL, 0)) < 200);
    // What looks like a digest is a key of its own, and the longest that is kept is whole.
    char digest[66] = "%#";
    weir_sha256_hex(text, 1001, digest + 2);
    assert_string_not_equal(key_of("l", digest, sizeof digest, NULL, 0), two);
    assert_non_null(strstr(key_of("l", text, 128, NULL, 0), "{xxxx"));
    assert_non_null(strstr(key_of("l", text, 129, NULL, 0), "{%#"));
}

static void the_longest_key_fits(void **state)
{
    (void)state;
    char bytes[128], name[65];
    memset(bytes, 0xff, sizeof bytes);
    memset(name, ':', 64);
    name[64] = '\0';
    assert_true(strlen(key_of(name, bytes, sizeof bytes, bytes, sizeof bytes)) < WEIR_KEY_ROOM);
}

static void long_ids_are_digests_and_none_can_pass_for_one(void **state)
{
    (void)state;
    char text[200];
    memset(text, 'i', sizeof text);
    const weir_limit limit = test_limit(&(weir_limit_options){
        .name = "c", .algorithm = WEIR_CONCURRENCY, .limit = 1, .ttl_us = WEIR_SECOND});
    weir_check check = {&limit, WEIR_TEXT("k"), .id = text, .id_size = 128};
    char id[WEIR_ID_ROOM], forged[WEIR_ID_ROOM];
    assert_int_equal(weir_check_id(&check, id), 128);
    assert_memory_equal(id, text, 128);
    check.id_size = 129;
    assert_int_equal(weir_check_id(&check, id), 66);
    check.id = id;
    check.id_size = 66;
    assert_int_equal(weir_check_id(&check, forged), 66);
    assert_memory_not_equal(forged, id, 66);
    check.id = NULL;
    assert_int_equal(weir_check_id(&check, id), 0);
}

// FIPS 180-4's own examples, and sizes around the end of a block.
static void sha256_is_sha256(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        const char *hex;
    } of_a[] = {
        {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"},
    };
    char text[1000], hex[65] = {0};
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof of_a / sizeof of_a[0]; i++) {
        weir_sha256_hex(text, of_a[i].size, hex);
        assert_string_equal(hex, of_a[i].hex);
    }
    weir_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_says_tag_key_limit_and_algorithm),
        cmocka_unit_test(c094_what_differs_for_the_caller_has_different_keys),
        cmocka_unit_test(braces_of_a_key_never_move_its_slot),
        cmocka_unit_test(c096_long_keys_are_kept_apart_by_a_digest),
        cmocka_unit_test(the_longest_key_fits),
        cmocka_unit_test(long_ids_are_digests_and_none_can_pass_for_one),
        cmocka_unit_test(sha256_is_sha256),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
