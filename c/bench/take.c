// A take beside what bounds it: the clock for a hot key, a cache miss for a million keys, a bare
// loop for two threads.
//
// Every figure is the median of ratios, each of one short round in which both were measured: other
// work on the machine comes and goes more slowly than that.

#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "weir.h"

#define ROUNDS        201
#define THREAD_ROUNDS 15
#define KEYS          1000000
#define KEY_BYTES     20

static weir_limit limit_of(const weir_limit_options *options)
{
    weir_limit limit;
    weir_error error;
    if (weir_limit_init(&limit, options, &error) != WEIR_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    return limit;
}

static weir_store *open_store(const weir_memory_options *options)
{
    weir_store *store;
    weir_error error;
    if (weir_memory_open(&store, options, &error) != WEIR_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    return store;
}

static double time_clock(int count)
{
    struct timespec now;
    const double start = bench_ns();
    for (int i = 0; i < count; i++) {
        clock_gettime(CLOCK_REALTIME, &now);
        BENCH_KEEP(now.tv_nsec);
    }
    return (bench_ns() - start) / count;
}

static double time_hot(weir_store *store, const weir_limit *limit, int count)
{
    const weir_check check = {limit, WEIR_TEXT("a client of 20 bytes"), .cost = 1};
    weir_decision decision;
    const double start = bench_ns();
    for (int i = 0; i < count; i++) {
        weir_store_take(store, &check, 0, &decision, NULL);
        BENCH_KEEP(decision.remaining);
    }
    return (bench_ns() - start) / count;
}

// A pointer chase through 64 MiB: each read tells where the next one is.
static double time_dependent_read(const uint32_t *chain, int count)
{
    uint32_t at = 0;
    const double start = bench_ns();
    for (int i = 0; i < count; i++) {
        at = chain[at];
    }
    BENCH_KEEP(at);
    return (bench_ns() - start) / count;
}

// One cycle through all places (Sattolo).
static uint32_t *make_chain(uint32_t places)
{
    uint32_t *chain = malloc(places * sizeof *chain);
    if (chain == NULL) {
        exit(2);
    }
    uint64_t random = 1;
    for (uint32_t i = 0; i < places; i++) {
        chain[i] = i;
    }
    for (uint32_t i = places - 1; i > 0; i--) {
        const uint32_t j = (uint32_t)(bench_random(&random) % i);
        const uint32_t kept = chain[i];
        chain[i] = chain[j];
        chain[j] = kept;
    }
    return chain;
}

// Twenty bytes that are the nth key's own and look random.
static void make_key(char key[KEY_BYTES], uint64_t n)
{
    uint64_t state = n;
    const uint64_t words[3] = {bench_random(&state), bench_random(&state), n};
    memcpy(key, words, KEY_BYTES);
}

static double time_random_keys(weir_store *store, const weir_limit *limit, uint64_t *random,
                               int count)
{
    weir_decision decision;
    char key[KEY_BYTES];
    const weir_check check = {limit, key, KEY_BYTES, .cost = 1};
    const double start = bench_ns();
    for (int i = 0; i < count; i++) {
        make_key(key, bench_random(random) % KEYS);
        weir_store_take(store, &check, 0, &decision, NULL);
        BENCH_KEEP(decision.remaining);
    }
    return (bench_ns() - start) / count;
}

// The same in lists of 32 that stand each by itself: the cache misses of a list overlap.
static double time_take_many(weir_store *store, const weir_limit *limit, uint64_t *random,
                             int count)
{
    enum { LIST = 32 };
    weir_check checks[LIST];
    weir_decision rows[LIST];
    char keys[LIST][KEY_BYTES];
    const double start = bench_ns();
    for (int i = 0; i < count; i += LIST) {
        for (int k = 0; k < LIST; k++) {
            make_key(keys[k], bench_random(random) % KEYS);
            checks[k] = (weir_check){limit, keys[k], KEY_BYTES, .cost = 1};
        }
        weir_store_take_many(store, checks, LIST, 0, rows, NULL);
        BENCH_KEEP(rows[0].remaining);
    }
    return (bench_ns() - start) / count;
}

static void hot_key(void)
{
    weir_store *store = open_store(NULL);
    const struct {
        const char *what;
        weir_limit_options options;
    } cases[] = {
        {"token_bucket, passing",
         {.name = "a",
          .algorithm = WEIR_TOKEN_BUCKET,
          .rate = 1000000,
          .period_us = WEIR_SECOND,
          .burst = INT64_C(1) << 40}},
        {"token_bucket, refused",
         {.name = "b", .algorithm = WEIR_TOKEN_BUCKET, .rate = 1, .period_us = WEIR_DAY}},
        {"token_bucket, 7 a minute",
         {.name = "c",
          .algorithm = WEIR_TOKEN_BUCKET,
          .rate = 7,
          .period_us = WEIR_MINUTE,
          .burst = INT64_C(1) << 22}},
        {"leaky_bucket",
         {.name = "d",
          .algorithm = WEIR_LEAKY_BUCKET,
          .rate = INT64_C(1) << 30,
          .period_us = WEIR_SECOND,
          .queue = INT64_C(1) << 30}},
        {"fixed_window",
         {.name = "e",
          .algorithm = WEIR_FIXED_WINDOW,
          .limit = INT64_C(1) << 40,
          .window_us = WEIR_MINUTE}},
        {"sliding_log of 100",
         {.name = "f", .algorithm = WEIR_SLIDING_LOG, .limit = 100, .window_us = 100}},
        {"sliding_counter",
         {.name = "g",
          .algorithm = WEIR_SLIDING_COUNTER,
          .limit = INT64_C(1) << 40,
          .window_us = WEIR_MINUTE}},
        {"min_gap", {.name = "h", .algorithm = WEIR_MIN_GAP, .gap_us = 1}},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    double clock[ROUNDS], ratio[CASES][ROUNDS];
    weir_limit limits[CASES];
    for (int c = 0; c < CASES; c++) {
        limits[c] = limit_of(&cases[c].options);
    }
    for (int r = 0; r < ROUNDS; r++) {
        clock[r] = time_clock(5000);
        for (int c = 0; c < CASES; c++) {
            ratio[c][r] = time_hot(store, &limits[c], 5000) / time_clock(5000);
        }
    }
    printf("one hot key, the clock read in every take (clock_gettime alone: %.0f ns)\n",
           bench_median(clock, ROUNDS));
    for (int c = 0; c < CASES; c++) {
        printf("  %-28s %5.2f x clock_gettime%s\n", cases[c].what, bench_median(ratio[c], ROUNDS),
               c == 0 ? ", at most 3" : "");
    }
    weir_store_close(store);
}

static void million_keys(void)
{
    const weir_memory_options options = {.size_bytes = (size_t)KEYS * 48, .no_side = true};
    weir_store *store = open_store(&options);
    const weir_limit limit = limit_of(&(weir_limit_options){
        .name = "api", .algorithm = WEIR_TOKEN_BUCKET, .rate = 1000, .period_us = WEIR_DAY});
    uint32_t *chain = make_chain((64u << 20) / sizeof *chain);
    weir_decision decision;
    for (uint64_t i = 0; i < KEYS; i++) {
        char key[KEY_BYTES];
        make_key(key, i);
        const weir_check check = {&limit, key, KEY_BYTES, .cost = 1};
        weir_store_take(store, &check, 0, &decision, NULL);
    }
    weir_counters counters;
    weir_memory_counters(store, &counters);
    double read[ROUNDS], take[ROUNDS], many[ROUNDS];
    uint64_t random = 7;
    for (int r = 0; r < ROUNDS; r++) {
        read[r] = time_dependent_read(chain, 20000);
        take[r] = time_random_keys(store, &limit, &random, 20000) / read[r];
        many[r] = time_take_many(store, &limit, &random, 20000) / read[r];
    }
    printf("1,000,000 random keys of 20 bytes (a dependent random read of 64 MiB: %.0f ns)\n",
           bench_median(read, ROUNDS));
    printf("  %-28s %5.2f x that read, at most 2.5\n", "token_bucket", bench_median(take, ROUNDS));
    printf("  %-28s %5.2f x that read a check\n", "take_many of 32", bench_median(many, ROUNDS));
    printf("  %-28s %5.1f, at most 48, with %.4f %% evicted (at most 0.1)\n",
           "table bytes a live key", (double)counters.size_bytes / (double)counters.keys,
           100.0 * (double)counters.evicted / KEYS);
    free(chain);
    weir_store_close(store);
}

typedef struct worker {
    weir_store *store; // NULL: a bare loop that computes
    const weir_limit *limit;
    uint64_t number;
    double per_second;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    char key[KEY_BYTES];
    make_key(key, w->number);
    const int count = w->store != NULL ? 1000000 : 100000000;
    weir_decision decision;
    const double start = bench_ns();
    if (w->store == NULL) {
        uint64_t x = w->number;
        for (int i = 0; i < count; i++) {
            BENCH_KEEP(bench_random(&x));
        }
    } else {
        const weir_check check = {w->limit, key, KEY_BYTES, .cost = 1};
        for (int i = 0; i < count; i++) {
            weir_store_take(w->store, &check, 0, &decision, NULL);
        }
    }
    w->per_second = count / (bench_ns() - start) * 1e9;
    return NULL;
}

// What so many threads do in a second together. One alone has a thread of its own too, so that both
// run the same code.
static double throughput(weir_store *store, const weir_limit *limit, int count)
{
    worker workers[2] = {{store, limit, 1, 0}, {store, limit, 2, 0}};
    pthread_t threads[2];
    double sum = 0;
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            exit(2);
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += workers[i].per_second;
    }
    return sum;
}

// How much more two threads do than one.
static double scaling(weir_store *store, const weir_limit *limit)
{
    const double one = throughput(store, limit, 1);
    return throughput(store, limit, 2) / one;
}

static void two_threads(void)
{
    weir_store *store = open_store(NULL);
    const weir_limit limit = limit_of(&(weir_limit_options){.name = "api",
                                                            .algorithm = WEIR_TOKEN_BUCKET,
                                                            .rate = 1000000,
                                                            .period_us = WEIR_SECOND,
                                                            .burst = INT64_C(1) << 40});
    double compute[THREAD_ROUNDS], ratio[THREAD_ROUNDS];
    for (int r = 0; r < THREAD_ROUNDS; r++) {
        compute[r] = scaling(NULL, NULL);
        ratio[r] = scaling(store, &limit) / compute[r];
    }
    printf("two threads on different keys (a loop that computes scales %.2f)\n",
           bench_median(compute, THREAD_ROUNDS));
    printf("  %-28s %5.2f x that scaling, at least 0.9\n", "token_bucket",
           bench_median(ratio, THREAD_ROUNDS));
    weir_store_close(store);
}

int main(void)
{
    hot_key();
    million_keys();
    two_threads();
    return 0;
}
