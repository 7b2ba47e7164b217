// A proxy between store and server that misbehaves as it is told, towards calls only: handshakes
// pass.

#ifndef WEIR_TEST_REDIS_PROXY_H
#define WEIR_TEST_REDIS_PROXY_H

#include <pthread.h>

#include "server.h"

typedef enum test_fault {
    PASS,
    ANSWER,         // answers the call with `text`; the server never sees it
    REPLACE,        // the server runs the call, and the client gets `text` in place of its reply
    APPEND,         // the reply, and `text` after it
    HANG_UP_BEFORE, // closes at the call
    HANG_UP_AFTER,  // closes at the reply
    HANG_UP_WITHIN, // closes in the middle of the reply
    STALL,          // keeps replies back until the fault is another
    DRIP,           // a byte of the reply a millisecond
    SPLIT,          // the reply byte by byte, without a wait
    DEAF,           // takes what comes and does nothing
} test_fault;

typedef struct test_proxy {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    const test_server *server;
    int listener;
    int wake[2];
    test_fault fault;
    const char *text;
    long times; // how many calls it still befalls
    bool closing;

    long connections; // accepted
    long calls;       // seen
    long ran;         // answered by the server
    char folder[64];
    char path[96];
    char url[128];
} test_proxy;

void test_proxy_start(test_proxy *proxy, const test_server *server);
void test_proxy_stop(test_proxy *proxy);

// What befalls the next `times` calls. Text must last.
void test_proxy_set(test_proxy *proxy, test_fault fault, const char *text, long times);

// Where connections go from now on.
void test_proxy_turn(test_proxy *proxy, const test_server *server);

// How many it has seen.
long test_proxy_calls(test_proxy *proxy);
long test_proxy_connections(test_proxy *proxy);

// Waits until the server has answered so many of them.
void test_proxy_await(test_proxy *proxy, long ran);
long test_proxy_ran(test_proxy *proxy);

#endif
