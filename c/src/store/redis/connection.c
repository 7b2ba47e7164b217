// Every wait is a poll that ends by the deadline. Signals only make it poll again.

#include "store/redis/connection.h"

#include <errno.h>
#include <hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "error.h"
#include "store/redis/deadline.h"

// Waits for events. 0 when the deadline came first.
static short wait_for(int fd, short events, int64_t deadline_us)
{
    for (;;) {
        struct pollfd poll = {.fd = fd, .events = events};
        const int64_t left_us = weir_left_us(deadline_us);
        const struct timespec left = weir_timespec(left_us);
        const int ready = ppoll(&poll, 1, &left, NULL);
        if (ready > 0) {
            return poll.revents;
        }
        if (ready == 0 || left_us == 0) {
            return 0;
        }
    }
}

// 0, or an errno. A full queue of a Unix socket is EAGAIN.
static int connect_until(int fd, const struct sockaddr *address, socklen_t size,
                         int64_t deadline_us)
{
    if (connect(fd, address, size) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS && errno != EINTR) {
        return errno;
    }
    if (wait_for(fd, POLLOUT, deadline_us) == 0) {
        return ETIMEDOUT;
    }
    int failure = 0;
    socklen_t failure_size = sizeof failure;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &failure_size) == 0 ? failure : errno;
}

static int open_socket(const struct sockaddr *address, socklen_t size, int64_t deadline_us,
                       int *failure)
{
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        *failure = errno;
        return -1;
    }
    if (address->sa_family != AF_UNIX) {
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    *failure = connect_until(fd, address, size, deadline_us);
    if (*failure != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

weir_status weir_connection_open(weir_connection *connection, weir_lookup *lookup,
                                 const weir_settings *settings, int64_t deadline_us, bool *again,
                                 weir_error *error)
{
    weir_addresses addresses;
    *again = false;
    const weir_status status = weir_lookup_find(lookup, settings, deadline_us, &addresses, error);
    if (status != WEIR_OK) {
        return status;
    }
    connection->reader = weir_reader_open(&connection->reply);
    if (connection->reader == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "no memory for a connection to redis at %s",
                         settings->address);
    }
    int failure = 0;
    for (size_t i = 0; i < addresses.count && connection->fd < 0; i++) {
        // An address that never answers leaves the others their share of the time.
        const int64_t share_us = weir_left_us(deadline_us) / (int64_t)(addresses.count - i);
        connection->fd =
            open_socket((const struct sockaddr *)&addresses.at[i].address, addresses.at[i].size,
                        weir_monotonic_us() + share_us, &failure);
    }
    if (connection->fd >= 0) {
        connection->used = false;
        return WEIR_OK;
    }
    weir_connection_close(connection);
    *again = failure == EAGAIN;
    char why[128];
    return weir_fail(error, WEIR_NOT_EXECUTED, "redis at %s can't be reached: %s",
                     settings->address, strerror_r(failure, why, sizeof why));
}

// Sends what the socket takes now. False when the peer is gone.
static bool send_some(weir_connection *c, size_t *sent)
{
    while (*sent < c->out.size) {
        const ssize_t count =
            send(c->fd, c->out.bytes + *sent, c->out.size - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        *sent += (size_t)count;
    }
    return true;
}

// Feeds the parser what has arrived. False when the peer is gone or memory is out.
static bool receive_some(weir_connection *c)
{
    char bytes[16384];
    for (;;) {
        const ssize_t count = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count > 0) {
            return redisReaderFeed(c->reader, bytes, (size_t)count) == REDIS_OK;
        }
        if (count == 0 || errno != EINTR) {
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        }
    }
}

weir_exchange weir_connection_exchange(weir_connection *c, size_t replies, weir_on_reply *on_reply,
                                       void *context, int64_t deadline_us, size_t *sent)
{
    *sent = 0;
    size_t got = 0;
    bool gone = !send_some(c, sent);
    for (;;) {
        weir_read read = WEIR_READ_REPLY;
        while (got < replies &&
               (read = weir_reader_next(c->reader, &c->reply)) == WEIR_READ_REPLY) {
            on_reply(context, &c->reply);
            got++;
        }
        if (read == WEIR_READ_WRONG) {
            return WEIR_EXCHANGE_WRONG;
        }
        if (got == replies) {
            c->used = true;
            return *sent < c->out.size || weir_reader_has_more(c->reader) ? WEIR_EXCHANGE_WRONG
                                                                          : WEIR_EXCHANGE_DONE;
        }
        if (gone) {
            return WEIR_EXCHANGE_CLOSED;
        }
        const short wanted = *sent < c->out.size ? POLLIN | POLLOUT : POLLIN;
        const short ready = wait_for(c->fd, wanted, deadline_us);
        if (ready == 0) {
            return WEIR_EXCHANGE_LATE;
        }
        if (ready & ~POLLOUT) { // also what a peer said before it went
            gone = !receive_some(c);
        }
        if ((ready & POLLOUT) && !gone) {
            gone = !send_some(c, sent);
        }
    }
}

bool weir_connection_stands(const weir_connection *connection)
{
    struct pollfd poll_fd = {.fd = connection->fd, .events = POLLIN | POLLRDHUP};
    int ready;
    do {
        ready = poll(&poll_fd, 1, 0);
    } while (ready < 0 && errno == EINTR);
    return ready == 0;
}

void weir_connection_close(weir_connection *connection)
{
    if (connection->fd >= 0) {
        close(connection->fd);
        connection->fd = -1;
    }
    if (connection->reader != NULL) {
        redisReaderFree(connection->reader);
        connection->reader = NULL;
    }
}
