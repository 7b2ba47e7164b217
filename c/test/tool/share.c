// Makes memory that processes share, with keys of every algorithm; or damages it and has it read.
//
//   share make shm:NAME|file:PATH
//   share flips WEIR FILE COUNT SEED    bytes of the file are changed before each `WEIR shared
//   check`
//
// After each the command must have left 0, 1 or 2 to the shell within its deadline.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir.h"

#define SIZE ((size_t)256 << 10)
#define KEYS 40

static weir_status fill(weir_store *store, weir_error *error)
{
    static const weir_limit_options all[] = {
        {.name = "a", .algorithm = WEIR_TOKEN_BUCKET, .rate = 10, .period_us = WEIR_HOUR},
        {.name = "b", .algorithm = WEIR_FIXED_WINDOW, .limit = 1, .window_us = WEIR_DAY},
        {.name = "c", .algorithm = WEIR_SLIDING_LOG, .limit = 10, .window_us = WEIR_DAY},
        {.name = "d",
         .algorithm = WEIR_SLIDING_COUNTER,
         .limit = 10,
         .window_us = WEIR_DAY,
         .slots = 12},
        {.name = "e", .algorithm = WEIR_CONCURRENCY, .limit = 10, .ttl_us = WEIR_DAY},
    };
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < 2 * KEYS * sizeof all / sizeof *all && status == WEIR_OK; i++) {
        char key[16], id[16];
        snprintf(key, sizeof key, "key %zu", i / 2 % KEYS);
        snprintf(id, sizeof id, "id %zu", i % 2);
        weir_limit limit;
        weir_decision decision;
        status = weir_limit_init(&limit, &all[i / 2 / KEYS], error);
        const weir_check check = {.limit = &limit,
                                  .key = key,
                                  .key_size = strlen(key),
                                  .cost = 1,
                                  .id = id,
                                  .id_size = strlen(id)};
        if (status == WEIR_OK && limit.algorithm == WEIR_CONCURRENCY) {
            status = weir_store_acquire(store, &check, 0, &decision, error);
        } else if (status == WEIR_OK) {
            status = weir_store_take(store, &check, 0, &decision, error);
        }
    }
    return status;
}

static int make(const char *where)
{
    const bool named = strncmp(where, "shm:", 4) == 0;
    const weir_shared_options options = {.name = named ? where + 4 : NULL,
                                         .path = named ? NULL : where + 5,
                                         .size_bytes = SIZE,
                                         .seed = {1, 2}};
    weir_store *store;
    weir_error error = {0};
    weir_status status = weir_shared_open(&store, &options, &error);
    if (status == WEIR_OK) {
        status = fill(store, &error);
        weir_store_close(store);
    }
    if (status != WEIR_OK) {
        fprintf(stderr, "share: %s\n", error.message);
    }
    return status == WEIR_OK ? 0 : 2;
}

static uint64_t chance(uint64_t *state)
{
    uint64_t x = *state; // Marsaglia, Xorshift RNGs
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

// A place anywhere, or among what is read first: the head, the locks, the lists of side memory.
static size_t some_place(uint64_t *state)
{
    switch (chance(state) % 4) {
    case 0:
        return chance(state) % 1024;
    case 1:
        return (24 << 10) + chance(state) % (6 << 10);
    case 2:
        return SIZE - 1 - chance(state) % (2 << 10);
    default:
        return chance(state) % SIZE;
    }
}

static bool write_file(const char *path, const unsigned char *bytes)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const bool done = file >= 0 && write(file, bytes, SIZE) == (ssize_t)SIZE;
    if (file >= 0) {
        close(file);
    }
    return done;
}

// What the command left, its outputs in `said`; -1 when it died.
static int run_check(const char *weir, const char *path, char *said, size_t size)
{
    int ends[2], how = 0;
    if (pipe(ends) != 0) {
        return -1;
    }
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl(weir, weir, "shared", "check", "--deadline", "500ms", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n = 1; n > 0; got += n > 0 ? (size_t)n : 0) {
        n = read(ends[0], said + got, size - 1 - got);
    }
    said[got] = '\0';
    close(ends[0]);
    return waitpid(child, &how, 0) == child && WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static int flips(const char *weir, const char *path, long count, uint64_t state)
{
    static unsigned char whole[SIZE], torn[SIZE];
    static char said[1 << 16];
    const int file = open(path, O_RDONLY);
    if (file < 0 || read(file, whole, SIZE) != (ssize_t)SIZE) {
        perror(path);
        return 2;
    }
    close(file);
    long left[3] = {0}, slow = 0, died = 0, failed = 0;
    for (long i = 0; i < count; i++) {
        memcpy(torn, whole, SIZE);
        size_t at = 0;
        for (uint64_t n = chance(&state) % 4 == 0 ? 1 + chance(&state) % 8 : 1; n > 0; n--) {
            at = some_place(&state);
            torn[at] ^= (unsigned char)(1 + chance(&state) % 255);
        }
        if (!write_file(path, torn)) {
            perror(path);
            return 2;
        }
        const int status = run_check(weir, path, said, sizeof said);
        slow += strstr(said, "could not be read within") != NULL;
        const bool dies = strstr(said, "ends with signal") || strstr(said, "can't be read");
        died += dies;
        if (status < 0 || status > 2 || strstr(said, "Sanitizer") ||
            strstr(said, "runtime error")) {
            fprintf(stderr, "FAILED: round %ld, byte %zu, status %d: %s\n", i, at, status, said);
            failed++;
        } else {
            left[status]++;
        }
        if (dies && getenv("WEIR_SHOW")) {
            fprintf(stderr, "round %ld, byte %zu: %s\n", i, at, said);
        }
    }
    printf("%ld sound, %ld not, %ld refused; of which %ld waited for a lock and %ld ended the "
           "reader\n",
           left[0], left[1], left[2], slow, died);
    return failed > 0 || left[1] == 0 || left[2] == 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        return make(argv[2]);
    }
    if (argc == 6 && strcmp(argv[1], "flips") == 0) {
        return flips(argv[2], argv[3], atol(argv[4]), strtoull(argv[5], NULL, 10));
    }
    fputs("share: see its first lines\n", stderr);
    return 2;
}
