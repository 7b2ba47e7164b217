// The connections of a store, shared by its threads; a forked child has its own.

#ifndef WEIR_SRC_REDIS_POOL_H
#define WEIR_SRC_REDIS_POOL_H

#include <stdatomic.h>

#include "store/redis/connection.h"

typedef struct weir_pool_side weir_pool_side;

typedef struct weir_pool {
    const weir_settings *settings;
    _Atomic(weir_pool_side *) side; // this process's
} weir_pool;

// WEIR_NO_MEMORY. The settings are kept.
weir_status weir_pool_open(weir_pool *pool, const weir_settings *settings, weir_error *error);

// A connection that stands and has had its handshake. Waits for one when all are in use. `again`: a
// failure that may soon pass.
weir_status weir_pool_acquire(weir_pool *pool, int64_t deadline_us, weir_connection **out,
                              bool *again, weir_error *error);

// Gives it back. `keep` false closes it first: after anything but a clean exchange.
void weir_pool_release(weir_pool *pool, weir_connection *connection, bool keep);

// No thread may hold a connection.
void weir_pool_close(weir_pool *pool);

#endif
