// The one instant by which a call must have ended, on the monotonic clock.

#ifndef WEIR_SRC_REDIS_DEADLINE_H
#define WEIR_SRC_REDIS_DEADLINE_H

#include <stdint.h>
#include <time.h>

static inline int64_t weir_monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// How long is left, at least nought.
static inline int64_t weir_left_us(int64_t deadline_us)
{
    const int64_t left = deadline_us - weir_monotonic_us();
    return left > 0 ? left : 0;
}

static inline struct timespec weir_timespec(int64_t us)
{
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

#endif
