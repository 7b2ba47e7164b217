// A Redis server of the test's own, on a private socket, stopped by its pid.

#ifndef WEIR_TEST_REDIS_SERVER_H
#define WEIR_TEST_REDIS_SERVER_H

#include <sys/types.h>

#include "support.h"
#include "weir/redis.h"

typedef struct test_server {
    pid_t pid;
    int port; // 0: only the socket
    char folder[64];
    char path[96];
    char url[128]; // redis+unix://path
} test_server;

// Options are words of redis-server's command line, ended by NULL. Returns once it is ready.
void test_server_start(test_server *server, const char *const *options);
#define SERVER(server, ...) test_server_start(server, (const char *const[]){__VA_ARGS__, NULL})

// Kills the server and starts another in its place, which knows nothing.
void test_server_restart(test_server *server, const char *const *options);

// A port of the loopback that was free a moment ago, as text.
const char *test_free_port(char out[8]);

void test_server_stop(test_server *server);

// Sends one command, as words parted by blanks, and returns the reply as text: of a list, the last
// element. Static, until the next call of the thread.
__attribute__((format(printf, 2, 3))) const char *test_ask(const test_server *server,
                                                           const char *format, ...);
#define test_ask_number(...) atoll(test_ask(__VA_ARGS__))

// Opens a store on the URL with `query` after it.
weir_store *test_redis(const char *url, const char *query);

#endif
