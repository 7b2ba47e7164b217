// One connection: a socket that never blocks, what is to be sent, and the parser of what comes
// back.

#ifndef WEIR_SRC_REDIS_CONNECTION_H
#define WEIR_SRC_REDIS_CONNECTION_H

#include "store/redis/command.h"
#include "store/redis/lookup.h"
#include "store/redis/reply.h"

typedef struct weir_connection {
    int fd;    // -1: none
    bool used; // it has answered before, so the peer may have closed it since
    struct redisReader *reader;
    weir_buffer out;
    weir_reply reply; // the last one
    struct weir_connection *next;
} weir_connection;

typedef enum weir_exchange {
    WEIR_EXCHANGE_DONE,
    WEIR_EXCHANGE_LATE,   // the deadline came first
    WEIR_EXCHANGE_CLOSED, // the peer went away
    WEIR_EXCHANGE_WRONG,  // what came back is not the protocol, or more than was asked for
} weir_exchange;

// Called for each reply, in order.
typedef void weir_on_reply(void *context, const weir_reply *reply);

// Connects. WEIR_NOT_EXECUTED or WEIR_NO_MEMORY with a sentence. `again`: it may succeed soon.
weir_status weir_connection_open(weir_connection *connection, weir_lookup *lookup,
                                 const weir_settings *settings, int64_t deadline_us, bool *again,
                                 weir_error *error);

// Sends `out` and reads so many replies. In `sent` how many bytes the system has taken: a command
// that did not leave whole did not run. After any outcome but DONE the connection is of no use.
weir_exchange weir_connection_exchange(weir_connection *connection, size_t replies,
                                       weir_on_reply *on_reply, void *context, int64_t deadline_us,
                                       size_t *sent);

// Whether an idle connection still stands: nothing to read, not hung up.
bool weir_connection_stands(const weir_connection *connection);

// Closes the socket and forgets what was read. The connection may be opened again.
void weir_connection_close(weir_connection *connection);

#endif
