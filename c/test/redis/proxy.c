// One thread that polls all pairs of sockets, and looks for the ends of commands.

#include "proxy.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PAIRS_MAX   64
#define BUFFER_SIZE (1 << 18)

typedef struct pair {
    int client;
    int server;
    bool called; // a call was seen, so what the server says next is its reply
    test_fault fault;
    const char *text;
    char *in; // of the client, up to the end of a command
    size_t in_size;
    char *back; // of the server, while it is kept
    size_t back_size;
} pair;

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t count = send(fd, bytes, size, MSG_NOSIGNAL);
        if (count < 0) {
            return;
        }
        bytes += count;
        size -= (size_t)count;
    }
}

static void close_pair(pair *p)
{
    close(p->client);
    if (p->server >= 0) {
        close(p->server);
    }
    free(p->in);
    free(p->back);
    *p = (pair){.client = -1, .server = -1};
}

// The size of the first whole command, or 0. Sets what its first word is.
static size_t command_size(const char *bytes, size_t size, bool *is_call)
{
    const char *end = bytes + size, *at = memchr(bytes, '\n', size);
    if (at == NULL) {
        return 0;
    }
    long words = strtol(bytes + 1, NULL, 10);
    const char *first = NULL;
    for (at++; words > 0; words--) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (line == NULL) {
            return 0;
        }
        const long word = strtol(at + 1, NULL, 10);
        first = first == NULL ? line + 1 : first;
        at = line + 1 + word + 2;
        if (at > end) {
            return 0;
        }
    }
    *is_call = first != NULL && (memcmp(first, "EVAL", 4) == 0 || memcmp(first, "DEL\r", 4) == 0);
    return (size_t)(at - bytes);
}

// What befalls this call.
static test_fault take_fault(test_proxy *proxy, const char **text)
{
    pthread_mutex_lock(&proxy->lock);
    test_fault fault = PASS;
    if (proxy->times > 0 && proxy->fault != PASS) {
        proxy->times--;
        fault = proxy->fault;
    }
    *text = proxy->text;
    proxy->calls++;
    pthread_mutex_unlock(&proxy->lock);
    return fault;
}

// Commands of the client. False: the pair is to be closed.
static bool on_client(test_proxy *proxy, pair *p)
{
    const ssize_t count = recv(p->client, p->in + p->in_size, BUFFER_SIZE - p->in_size, 0);
    if (count <= 0) {
        return false;
    }
    p->in_size += (size_t)count;
    size_t size;
    bool is_call = false;
    while ((size = command_size(p->in, p->in_size, &is_call)) > 0) {
        bool forward = true;
        if (is_call) {
            p->fault = take_fault(proxy, &p->text);
            p->called = true;
            if (p->fault == HANG_UP_BEFORE) {
                return false;
            }
            if (p->fault == ANSWER) {
                send_all(p->client, p->text, strlen(p->text));
                forward = false;
            }
            forward &= p->fault != DEAF;
        }
        if (forward) {
            send_all(p->server, p->in, size);
        }
        memmove(p->in, p->in + size, p->in_size - size);
        p->in_size -= size;
    }
    return true;
}

static void send_slowly(const pair *p, int wait_ms)
{
    for (size_t i = 0; i < p->back_size; i++) {
        if (wait_ms > 0) {
            poll(NULL, 0, wait_ms);
        }
        send_all(p->client, p->back + i, 1);
    }
}

// The reply to a call. False: the pair is to be closed.
static bool give_back(pair *p)
{
    switch (p->fault) {
    case REPLACE:
        send_all(p->client, p->text, strlen(p->text));
        break;
    case HANG_UP_AFTER:
        return false;
    case HANG_UP_WITHIN:
        send_all(p->client, p->back, p->back_size / 2);
        return false;
    case STALL:
        return true; // until it is let go
    case DRIP:
        send_slowly(p, 1);
        break;
    case SPLIT:
        send_slowly(p, 0);
        break;
    case APPEND:
        memcpy(p->back + p->back_size, p->text, strlen(p->text));
        p->back_size += strlen(p->text);
        send_all(p->client, p->back, p->back_size);
        break;
    default:
        send_all(p->client, p->back, p->back_size);
    }
    p->back_size = 0;
    return true;
}

static bool on_server(test_proxy *proxy, pair *p)
{
    const ssize_t count = recv(p->server, p->back + p->back_size, BUFFER_SIZE / 2, 0);
    if (count <= 0) {
        return false;
    }
    p->back_size += (size_t)count;
    if (!p->called) {
        send_all(p->client, p->back, p->back_size);
        p->back_size = 0;
        return true;
    }
    pthread_mutex_lock(&proxy->lock);
    proxy->ran++;
    pthread_cond_broadcast(&proxy->answered);
    pthread_mutex_unlock(&proxy->lock);
    return give_back(p);
}

static void on_accept(test_proxy *proxy, pair *pairs)
{
    const int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_mutex_lock(&proxy->lock);
    const test_server *server = proxy->server;
    proxy->connections++;
    pthread_mutex_unlock(&proxy->lock);
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        if (pairs[i].client < 0) {
            pairs[i] = (pair){.client = client,
                              .server = connect_to(server->path),
                              .in = malloc(BUFFER_SIZE),
                              .back = malloc(BUFFER_SIZE)};
            if (pairs[i].server < 0) {
                close_pair(&pairs[i]);
            }
            return;
        }
    }
    close(client);
}

// The fault has changed: what was kept back goes on.
static void on_wake(test_proxy *proxy, pair *pairs)
{
    char byte;
    if (read(proxy->wake[0], &byte, 1) < 0) {
        return;
    }
    pthread_mutex_lock(&proxy->lock);
    const bool stalls = proxy->fault == STALL;
    pthread_mutex_unlock(&proxy->lock);
    for (size_t i = 0; i < PAIRS_MAX && !stalls; i++) {
        if (pairs[i].client >= 0 && pairs[i].fault == STALL) {
            pairs[i].fault = PASS;
            if (pairs[i].back_size > 0) {
                give_back(&pairs[i]);
            }
        }
    }
}

static bool is_closing(test_proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    const bool closing = proxy->closing;
    pthread_mutex_unlock(&proxy->lock);
    return closing;
}

static void *run(void *argument)
{
    test_proxy *proxy = argument;
    pair pairs[PAIRS_MAX];
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        pairs[i] = (pair){.client = -1, .server = -1};
    }
    while (!is_closing(proxy)) {
        struct pollfd polls[2 + PAIRS_MAX * 2] = {{proxy->listener, POLLIN, 0},
                                                  {proxy->wake[0], POLLIN, 0}};
        for (size_t i = 0; i < PAIRS_MAX; i++) {
            polls[2 + i * 2] = (struct pollfd){pairs[i].client, POLLIN, 0};
            polls[3 + i * 2] = (struct pollfd){pairs[i].server, POLLIN, 0};
        }
        if (poll(polls, 2 + PAIRS_MAX * 2, -1) < 0) {
            continue;
        }
        for (size_t i = 0; i < PAIRS_MAX; i++) {
            if (polls[2 + i * 2].revents != 0 && !on_client(proxy, &pairs[i])) {
                close_pair(&pairs[i]);
            } else if (polls[3 + i * 2].revents != 0 && !on_server(proxy, &pairs[i])) {
                close_pair(&pairs[i]);
            }
        }
        if (polls[1].revents != 0) {
            on_wake(proxy, pairs);
        }
        if (polls[0].revents != 0) {
            on_accept(proxy, pairs);
        }
    }
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        if (pairs[i].client >= 0) {
            close_pair(&pairs[i]);
        }
    }
    return NULL;
}

void test_proxy_start(test_proxy *proxy, const test_server *server)
{
    *proxy = (test_proxy){.server = server, .folder = "/tmp/weir-proxy-XXXXXX"};
    assert_non_null(mkdtemp(proxy->folder));
    snprintf(proxy->path, sizeof proxy->path, "%s/socket", proxy->folder);
    snprintf(proxy->url, sizeof proxy->url, "redis+unix://%s", proxy->path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, proxy->path);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(proxy->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(proxy->listener, 64), 0);
    assert_int_equal(pipe(proxy->wake), 0);
    pthread_mutex_init(&proxy->lock, NULL);
    pthread_cond_init(&proxy->answered, NULL);
    assert_int_equal(pthread_create(&proxy->thread, NULL, run, proxy), 0);
}

static void wake(test_proxy *proxy)
{
    const char byte = 0;
    assert_int_equal(write(proxy->wake[1], &byte, 1), 1);
}

void test_proxy_stop(test_proxy *proxy)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->closing = true;
    pthread_mutex_unlock(&proxy->lock);
    wake(proxy);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    close(proxy->wake[0]);
    close(proxy->wake[1]);
    unlink(proxy->path);
    rmdir(proxy->folder);
}

void test_proxy_set(test_proxy *proxy, test_fault fault, const char *text, long times)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->fault = fault;
    proxy->text = text;
    proxy->times = times;
    pthread_mutex_unlock(&proxy->lock);
    wake(proxy);
}

void test_proxy_turn(test_proxy *proxy, const test_server *server)
{
    pthread_mutex_lock(&proxy->lock);
    proxy->server = server;
    pthread_mutex_unlock(&proxy->lock);
}

static long read_count(test_proxy *proxy, const long *count)
{
    pthread_mutex_lock(&proxy->lock);
    const long value = *count;
    pthread_mutex_unlock(&proxy->lock);
    return value;
}

long test_proxy_calls(test_proxy *proxy)
{
    return read_count(proxy, &proxy->calls);
}

long test_proxy_connections(test_proxy *proxy)
{
    return read_count(proxy, &proxy->connections);
}

long test_proxy_ran(test_proxy *proxy)
{
    return read_count(proxy, &proxy->ran);
}

void test_proxy_await(test_proxy *proxy, long ran)
{
    pthread_mutex_lock(&proxy->lock);
    while (proxy->ran < ran) {
        pthread_cond_wait(&proxy->answered, &proxy->lock);
    }
    pthread_mutex_unlock(&proxy->lock);
}
