// What the benchmarks share: a clock, a median, random numbers, and a value the compiler must
// compute.

#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The values are sorted in place.
static inline double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, bench_compare);
    return values[count / 2];
}

// splitmix64: S. Vigna's constants.
static inline uint64_t bench_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#define BENCH_KEEP(value) __asm__ volatile("" : : "r,m"(value) : "memory")

#endif
