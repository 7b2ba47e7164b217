// What the C tests share: limits and stores that must open, random numbers that repeat.

#ifndef WEIR_TEST_SUPPORT_H
#define WEIR_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "weir.h"

#define NOW INT64_C(1700000000000000)

static inline weir_limit test_limit(const weir_limit_options *options)
{
    weir_limit limit;
    weir_error error = {0};
    if (weir_limit_init(&limit, options, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    return limit;
}

#define LIMIT(...) test_limit(&(weir_limit_options){.name = "test", __VA_ARGS__})

static inline weir_store *test_store(const weir_memory_options *options)
{
    weir_store *store = NULL;
    weir_error error = {0};
    if (weir_memory_open(&store, options, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    return store;
}

static inline weir_check check_of(const weir_limit *limit, const char *key, int64_t cost)
{
    return (weir_check){limit, key, strlen(key), .cost = cost, .id = key, .id_size = strlen(key)};
}

static inline weir_decision test_take(weir_store *store, const weir_limit *limit, const char *key,
                                      int64_t cost, int64_t now_us)
{
    weir_check check = check_of(limit, key, cost);
    weir_decision decision;
    weir_error error = {0};
    if (weir_store_take(store, &check, now_us, &decision, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    return decision;
}

static inline weir_decision test_peek(weir_store *store, const weir_limit *limit, const char *key,
                                      int64_t cost, int64_t now_us)
{
    weir_check check = check_of(limit, key, cost);
    weir_decision decision;
    weir_error error = {0};
    if (weir_store_peek(store, &check, now_us, &decision, &error) != WEIR_OK) {
        fail_msg("%s", error.message);
    }
    return decision;
}

// splitmix64: S. Vigna's constants.
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// From least to most, both included.
static inline int64_t test_between(uint64_t *state, int64_t least, int64_t most)
{
    return least + (int64_t)(test_random(state) % (uint64_t)(most - least + 1));
}

#endif
