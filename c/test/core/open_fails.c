// Opening a store when the kernel has nothing to give: a status each time, and nothing left behind.

#include "support.h"

#include <sys/mman.h>
#include <sys/random.h>

static int calls_left; // of mmap and getrandom that still succeed

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
ssize_t __real_getrandom(void *, size_t, unsigned);
ssize_t __wrap_getrandom(void *, size_t, unsigned);

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return calls_left-- > 0 ? __real_mmap(at, size, protection, flags, file, offset) : MAP_FAILED;
}

ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags)
{
    return calls_left-- > 0 ? __real_getrandom(out, size, flags) : -1;
}

static void the_nth_failure_is_a_status_for_each_n(void **state)
{
    (void)state;
    const weir_status expected[] = {WEIR_NO_MEMORY, WEIR_IO, WEIR_OK};
    for (int n = 0; n < 3; n++) {
        weir_store *store = NULL;
        weir_error error = {0};
        calls_left = n;
        assert_int_equal(weir_memory_open(&store, NULL, &error), expected[n]);
        if (n < 2) {
            assert_null(store);
            assert_int_equal(error.status, expected[n]);
            assert_true(error.message[0] != '\0');
        }
        weir_store_close(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_nth_failure_is_a_status_for_each_n)};
    return cmocka_run_group_tests_name("open_fails", tests, NULL, NULL);
}
