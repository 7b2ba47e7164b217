// How long a call took of its own: what other processes took of this thread's processor is left
// out.

#ifndef WEIR_TEST_REDIS_WATCH_H
#define WEIR_TEST_REDIS_WATCH_H

#include <stdint.h>

typedef struct test_watch {
    int64_t start_us;
    int64_t waited_us;
} test_watch;

test_watch test_watch_start(void);
int64_t test_watch_us(const test_watch *watch);

#endif
