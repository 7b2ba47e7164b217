// The kernel counts for each thread how long it was ready to run and did not.

#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t waited_us(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    int64_t run_ns, waited_ns = 0;
    if (file != NULL) {
        if (fscanf(file, "%" SCNd64 " %" SCNd64, &run_ns, &waited_ns) != 2) {
            waited_ns = 0;
        }
        fclose(file);
    }
    return waited_ns / 1000;
}

test_watch test_watch_start(void)
{
    return (test_watch){.waited_us = waited_us(), .start_us = now_us()};
}

int64_t test_watch_us(const test_watch *watch)
{
    const int64_t end_us = now_us();
    return end_us - watch->start_us - (waited_us() - watch->waited_us);
}
