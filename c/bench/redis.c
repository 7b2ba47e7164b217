// The client beside redis-benchmark: the same script, one connection, pipelined by 64, in rounds
// that were interleaved in this run.

#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir.h"
#include "weir/key.h"
#include "weir/redis.h"
#include "weir_scripts.h"

#define ROUNDS   9
#define PIPELINE 64
#define CALLS    200000
#define SINGLES  20000

static char folder[] = "/tmp/weir-bench-XXXXXX";
static char path[64];
static pid_t server;

static void stop(void)
{
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    unlink(path);
    rmdir(folder);
}

static void fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    exit(2);
}

// Returns once the server has said that it is ready.
static void start(void)
{
    int log[2];
    if (mkdtemp(folder) == NULL || pipe(log) != 0) {
        fail("no folder for a server");
    }
    snprintf(path, sizeof path, "%s/socket", folder);
    server = fork();
    if (server == 0) {
        dup2(log[1], STDOUT_FILENO);
        execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
               "--dir", folder, (char *)NULL);
        _exit(127);
    }
    close(log[1]);
    atexit(stop);
    FILE *lines = fdopen(log[0], "r");
    char line[512];
    while (fgets(line, sizeof line, lines) != NULL) {
        if (strstr(line, "eady to accept connections") != NULL) {
            fclose(lines);
            return;
        }
    }
    fail("redis-server did not start");
}

// What redis-benchmark reaches with the command, in calls a second.
static double peer_rate(const char *sha1, const char *key, int pipeline, int calls)
{
    char command[512], line[256];
    snprintf(command, sizeof command,
             "redis-benchmark -s %s -c 1 -P %d -n %d --csv EVALSHA %s 1 '%s' 1000000 1000000 "
             "1099511627776 2>/dev/null",
             path, pipeline, calls, sha1, key);
    FILE *out = popen(command, "r");
    double rate = 0;
    while (out != NULL && fgets(line, sizeof line, out) != NULL) {
        const char *number = strstr(line, "\",\"");
        if (number != NULL && strncmp(line, "\"EVALSHA", 8) == 0) {
            rate = strtod(number + 3, NULL);
        }
    }
    if (out == NULL || pclose(out) != 0 || rate <= 0) {
        fail("redis-benchmark gave no rate");
    }
    return rate;
}

static double processor_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

// In `cost_ns` what a call costs this process, the system's part of sending and receiving with it.
static double own_rate(weir_store *store, const weir_check *check, int pipeline, int calls,
                       double *cost_ns)
{
    weir_check checks[PIPELINE];
    weir_decision rows[PIPELINE];
    weir_error error = {0};
    for (int i = 0; i < PIPELINE; i++) {
        checks[i] = *check;
    }
    const double begin = bench_ns(), used = processor_ns();
    for (int done = 0; done < calls; done += pipeline) {
        const weir_status status =
            weir_store_take_many(store, checks, (size_t)pipeline, 0, rows, &error);
        if (status != WEIR_OK || !rows[0].allowed) {
            fail(error.message);
        }
    }
    *cost_ns = (processor_ns() - used) / calls;
    return calls / (bench_ns() - begin) * 1e9;
}

static void compare(weir_store *store, const weir_check *check, const char *sha1, const char *key,
                    int pipeline, int calls, const char *target)
{
    double own[ROUNDS], ratio[ROUNDS], cost_ns[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        const double peer = peer_rate(sha1, key, pipeline, calls);
        own[r] = own_rate(store, check, pipeline, calls, &cost_ns[r]);
        ratio[r] = own[r] / peer;
    }
    printf(
        "  pipelined by %-2d              %5.2f x redis-benchmark%s  (%.0f calls a second, %.0f ns "
        "of the client's processor a call)\n",
        pipeline, bench_median(ratio, ROUNDS), target, bench_median(own, ROUNDS),
        bench_median(cost_ns, ROUNDS));
}

int main(void)
{
    start();
    char url[96];
    snprintf(url, sizeof url, "redis+unix://%s?deadline=10s", path);
    weir_store *store;
    weir_error error;
    weir_limit limit;
    const weir_limit_options options = {.name = "bench",
                                        .algorithm = WEIR_TOKEN_BUCKET,
                                        .rate = 1000000,
                                        .period_us = WEIR_SECOND,
                                        .burst = INT64_C(1) << 40};
    if (weir_limit_init(&limit, &options, &error) != WEIR_OK ||
        weir_redis_open(&store, &(weir_redis_options){.url = url}, &error) != WEIR_OK) {
        fail(error.message);
    }
    const weir_check check = {&limit, WEIR_TEXT("a-client-of-20-bytes"), .cost = 1};
    char key[WEIR_KEY_ROOM];
    weir_check_key(&check, key);
    weir_decision decision;
    if (weir_store_take(store, &check, 0, &decision, &error) != WEIR_OK) { // brings the script
        fail(error.message);
    }
    const char *sha1 = NULL;
    for (int i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        sha1 = strcmp(weir_scripts[i].name, "token_bucket") == 0 ? weir_scripts[i].sha1 : sha1;
    }
    printf("one connection by a Unix socket, token_bucket, passing\n");
    compare(store, &check, sha1, key, PIPELINE, CALLS, ", at least 0.85");
    compare(store, &check, sha1, key, 1, SINGLES, "");
    weir_store_close(store);
    return 0;
}
