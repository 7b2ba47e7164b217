// replay: requests a second of `weir replay` on a generated log, and bytes a record beside the
// mapped file.
//
//   bench_replay WEIR [LINES [POLICY]]
//
// The log is 2,000,000 combined lines of 10,000 clients, a line each millisecond by stamps of one
// second. It is measured from outside: the CPU time of the whole process, start, read, sort and
// report included, best of three (it has one thread, so by the clock it takes as long when nothing
// else runs); and the largest resident size less that of the file, whose pages are the page cache's
// own. The largest anonymous size, sampled every five milliseconds, is shown beside it, since not
// every page of the file need be resident at once.

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS       10000
#define RUNS          3
#define FIRST_SECOND  INT64_C(1715472000) // 2024-05-12T00:00:00Z
#define LINES_DEFAULT 2000000

static const char policy_text[] =
    "local weir = require \"weir\"\n"
    "local per_client = weir.sliding_counter { name = \"per_client\", limit = 10, window = \"1m\" "
    "}\n"
    "return function(request) return per_client(request.address) end\n";

// SplitMix64: the same numbers in every run.
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void write_line(FILE *to, uint64_t line, uint64_t *random)
{
    static const char *const paths[] = {"/", "/index.html", "/api/v1/search?q=weir&page=2",
                                        "/static/site.css", "/images/logo.png"};
    static const char *const agents[] = {
        "curl/7.88.1", "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0",
        "python-requests/2.31.0"};
    time_t second = (time_t)(FIRST_SECOND + (int64_t)(line / 1000));
    struct tm day;
    char stamp[40];
    gmtime_r(&second, &day);
    strftime(stamp, sizeof stamp, "%d/%b/%Y:%H:%M:%S +0000", &day);
    uint64_t r = next_random(random);
    unsigned client = (unsigned)(r % CLIENTS);
    fprintf(to, "10.%u.%u.%u - - [%s] \"GET %s HTTP/1.1\" 200 %u \"-\" \"%s\"\n", client / 2500,
            client / 50 % 50, client % 50 + 1, stamp, paths[(r >> 20) % 5],
            (unsigned)(r >> 32) % 100000, agents[(r >> 24) % 3]);
}

static int generate(const char *path, uint64_t lines)
{
    FILE *to = fopen(path, "w");
    if (!to)
        return -1;
    uint64_t random = 1;
    for (uint64_t line = 0; line < lines; line++)
        write_line(to, line, &random);
    return fclose(to);
}

static int write_text(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    if (!to)
        return -1;
    fputs(text, to);
    return fclose(to);
}

typedef struct measure {
    double wall_s, cpu_s;
    uint64_t resident_bytes, anonymous_bytes;
    int status;
} measure;

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static uint64_t anonymous_of(pid_t pid)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *from = fopen(path, "r");
    uint64_t kilobytes = 0;
    while (from && fgets(line, sizeof line, from))
        if (sscanf(line, "RssAnon: %" SCNu64, &kilobytes) == 1)
            break;
    if (from)
        fclose(from);
    return kilobytes * 1024;
}

static void run_child(const char *weir, const char *policy, const char *log)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    execl(weir, "weir", "replay", policy, log, (char *)NULL);
    fprintf(stderr, "%s: %s\n", weir, strerror(errno));
    _exit(127);
}

static measure run(const char *weir, const char *policy, const char *log)
{
    measure m = {0};
    struct timespec start;
    struct rusage used;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t pid = fork();
    if (pid == 0)
        run_child(weir, policy, log);
    while (wait4(pid, &m.status, WNOHANG, &used) == 0) {
        uint64_t anonymous = anonymous_of(pid);
        if (anonymous > m.anonymous_bytes)
            m.anonymous_bytes = anonymous;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    m.wall_s = seconds_since(&start);
    m.cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    m.resident_bytes = (uint64_t)used.ru_maxrss * 1024;
    return m;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "bench_replay WEIR [LINES [POLICY]]\n");
        return 2;
    }
    uint64_t lines = argc > 2 ? strtoull(argv[2], NULL, 10) : LINES_DEFAULT;
    char folder[] = "/tmp/weir-bench-XXXXXX", log[64], own_policy[64];
    if (lines == 0 || !mkdtemp(folder)) {
        fprintf(stderr, "bench_replay: no lines, or no room in /tmp\n");
        return 2;
    }
    snprintf(log, sizeof log, "%s/access.log", folder);
    snprintf(own_policy, sizeof own_policy, "%s/policy.lua", folder);
    const char *policy = argc > 3 ? argv[3] : own_policy;
    struct stat file = {0};
    measure best = {0};
    if (generate(log, lines) == 0 && write_text(own_policy, policy_text) == 0 &&
        stat(log, &file) == 0)
        for (int i = 0; i < RUNS; i++) {
            measure m = run(argv[1], policy, log);
            if (i == 0 || m.status != 0 || m.cpu_s < best.cpu_s)
                best = m;
            if (m.status != 0)
                break;
        }
    unlink(log);
    unlink(own_policy);
    rmdir(folder);
    if (best.wall_s == 0 || best.status != 0) {
        fprintf(stderr, "bench_replay: weir replay did not end well\n");
        return 1;
    }
    double beside = (double)best.resident_bytes - (double)file.st_size;
    printf("replay     %" PRIu64 " lines, %.0f MB: %.2f s of CPU, %.0f requests/s on one core "
           "(at least 1000000); %.2f s by the clock\n",
           lines, (double)file.st_size / 1e6, best.cpu_s, (double)lines / best.cpu_s, best.wall_s);
    printf("           %.1f bytes a record beside the mapped file, %.1f anonymous (at most 64)\n",
           beside / (double)lines, (double)best.anonymous_bytes / (double)lines);
    return 0;
}
