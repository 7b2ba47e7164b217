// How long to wait before asking again: twice as long each time, and never as long as the others.

#ifndef WEIR_SRC_REDIS_BACKOFF_H
#define WEIR_SRC_REDIS_BACKOFF_H

#include <errno.h>
#include <stdbool.h>

#include "store/redis/deadline.h"

#define WEIR_BACKOFF_FIRST_US INT64_C(2000)
#define WEIR_BACKOFF_LAST_US  INT64_C(64000)

// Waits half to all of *wait_us, and doubles it. False at once when the deadline comes before that.
static inline bool weir_backoff(int64_t *wait_us, int64_t deadline_us)
{
    const int64_t now_us = weir_monotonic_us();
    // Where the clock and the stack stand is chance enough to part callers that were refused
    // together.
    const uint64_t chance =
        ((uint64_t)now_us ^ (uint64_t)(uintptr_t)wait_us) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    const int64_t half_us = *wait_us / 2;
    const int64_t until_us = now_us + half_us + (int64_t)(chance % (uint64_t)(half_us + 1));
    *wait_us = *wait_us * 2 < WEIR_BACKOFF_LAST_US ? *wait_us * 2 : WEIR_BACKOFF_LAST_US;
    if (until_us >= deadline_us) {
        return false;
    }
    const struct timespec until = weir_timespec(until_us);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    return true;
}

#endif
