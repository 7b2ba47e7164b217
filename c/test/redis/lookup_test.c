// Names that resolve late, wrongly or not at all. The resolver is the test's own.

#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

#include "server.h"
#include "watch.h"

#define GRACE_US 5000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs;
static int asked;

// Stands in the C library's place: a name is looked up only when the test lets it.
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)host;
    (void)port;
    if (hints->ai_flags & AI_NUMERICHOST) {
        return EAI_NONAME;
    }
    pthread_mutex_lock(&lock);
    asked++;
    pthread_cond_broadcast(&changed);
    while (hangs) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    *out = NULL;
    return EAI_AGAIN;
}

void freeaddrinfo(struct addrinfo *list)
{
    (void)list;
}

static void set_hangs(bool value)
{
    pthread_mutex_lock(&lock);
    hangs = value;
    asked = value ? 0 : asked;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static weir_status take(weir_store *store, int64_t *took_us, weir_error *error)
{
    const weir_limit limit = LIMIT(.algorithm = WEIR_MIN_GAP, .gap_us = 1);
    const weir_check check = check_of(&limit, "k", 1);
    weir_decision d;
    const test_watch watch = test_watch_start();
    const weir_status status = weir_store_take(store, &check, NOW, &d, error);
    *took_us = test_watch_us(&watch);
    return status;
}

static void a_name_that_is_not_known_is_not_executed(void **state)
{
    (void)state;
    weir_store *store = test_redis("redis://name.example", "?deadline=5s");
    int64_t took_us;
    weir_error error = {0};
    assert_int_equal(take(store, &took_us, &error), WEIR_NOT_EXECUTED);
    assert_non_null(strstr(error.message, "name.example"));
    assert_non_null(strstr(error.message, "looked up"));
    weir_store_close(store);
}

static void a_resolver_that_hangs_is_left_at_the_deadline(void **state)
{
    (void)state;
    weir_store *store = test_redis("redis://name.example", "?deadline=30ms");
    set_hangs(true);
    int64_t best_us = WEIR_SECOND; // a busy machine may make any one late
    for (int i = 0; i < 5; i++) {
        int64_t took_us;
        weir_error error = {0};
        assert_int_equal(take(store, &took_us, &error), WEIR_NOT_EXECUTED);
        best_us = took_us < best_us ? took_us : best_us;
        assert_non_null(strstr(error.message, "deadline"));
    }
    assert_in_range(best_us, 30000 - GRACE_US, 30000 + GRACE_US);
    pthread_mutex_lock(&lock);
    assert_int_equal(asked, 1); // one look-up serves all who wait
    pthread_mutex_unlock(&lock);
    weir_store_close(store); // while it still runs
    set_hangs(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_is_not_known_is_not_executed),
        cmocka_unit_test(a_resolver_that_hangs_is_left_at_the_deadline),
    };
    return cmocka_run_group_tests_name("redis name look-up", tests, NULL, NULL);
}
