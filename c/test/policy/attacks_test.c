// Every script in spec/attacks ends in time, and the next request is served.
//
// Each runs in three places: while the policy loads, at a request, and in a response. Time is that
// of this thread; builds with sanitizers are slower and are not timed.

#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TIMED 0
#else
#define TIMED 1
#endif

enum { DEADLINE_US = 50000, GRACE_US = 10000, ATTACKS_MAX = 200, ROUNDS = 3 };

static const char good[] = "return function(request) return true end";

static int64_t thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void assert_in_time(const char *name, const char *where, int64_t spent_us)
{
    if (TIMED && spent_us > DEADLINE_US + GRACE_US) {
        fail_msg("%s %s took %lld us", name, where, (long long)spent_us);
    }
}

static void assert_served(fixture *f, const char *name)
{
    if (fixture_ask(f, "bob", T0) != WEIR_OK || !f->outcome.allowed) {
        fail_msg("after %s: %s", name, f->error.message);
    }
}

static void attack_at_load(fixture *f, const char *name, const char *text, size_t size)
{
    assert_int_equal(weir_policy_reload_text(f->policy, good, strlen(good), &f->error), WEIR_OK);
    const int64_t start = thread_us();
    const weir_status status = weir_policy_reload_text(f->policy, text, size, &f->error);
    assert_in_time(name, "at load", thread_us() - start);
    assert_int_not_equal(status, WEIR_OK);
    assert_has(f->error.message, "policy.lua:");
    assert_served(f, name);
}

// Between the two texts goes the attack. Where it is too long for a policy with them, the last good
// policy serves.
static void attack_between(fixture *f, const char *name, const char *before, const char *text,
                           const char *after, bool in_response)
{
    const size_t size = strlen(before) + strlen(text) + strlen(after);
    char *whole = malloc(size + 1);
    assert_non_null(whole);
    snprintf(whole, size + 1, "%s%s%s", before, text, after);
    const weir_status loaded = weir_policy_reload_text(f->policy, whole, size, &f->error);
    free(whole);
    if (loaded != WEIR_OK) {
        assert_served(f, name);
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t start = thread_us();
        if (in_response) {
            fixture_respond(f, "evil", true, "yes", T0);
        } else {
            fixture_ask(f, "evil", T0);
        }
        assert_in_time(name, in_response ? "in a response" : "at a request", thread_us() - start);
        assert_served(f, name);
    }
}

static void attack(fixture *f, const char *name, const char *text, size_t size)
{
    attack_at_load(f, name, text, size);
    attack_between(f, name, "return function(request) if request.user == 'evil' then\n", text,
                   "\nend return true end", false);
    attack_between(f, name,
                   "return { request = function() return true end, response = function(request)\n",
                   text, "\nend }", true);
}

static void every_attack_ends_in_time(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f, good);
    struct dirent **entries;
    const int count = scandir(WEIR_ATTACKS, &entries, NULL, alphasort);
    assert_true(count > 0);
    int attacks = 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (strstr(name, ".lua") != NULL) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", WEIR_ATTACKS, name);
            size_t size;
            char *text = read_all(path, &size);
            attack(&f, name, text, size);
            free(text);
            attacks++;
        }
        free(entries[i]);
    }
    free(entries);
    fixture_close(&f);
    assert_true(attacks >= 48);
    print_message("%d attacks\n", attacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_attack_ends_in_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
