// Idle connections are taken last in, first out, so that few stay warm and the rest may go cold.
//
// A process has a side of its own, which names the process. A child finds its parent's there and
// puts a new one in its place: locks and connections that another thread held at the fork stay as
// they were, and only their sockets are closed, which does not disturb the parent.

#include "store/redis/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "error.h"
#include "store/redis/deadline.h"
#include "store/redis/handshake.h"

struct weir_pool_side {
    pid_t process;
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    weir_connection *idle;  // open
    weir_connection *empty; // without a socket
    weir_lookup *lookup;
    weir_pool_side *inherited; // the parent's
    size_t count;
    weir_connection connections[];
};

static void push(weir_connection **list, weir_connection *connection)
{
    connection->next = *list;
    *list = connection;
}

static weir_connection *pop(weir_connection **list)
{
    weir_connection *first = *list;
    if (first != NULL) {
        *list = first->next;
    }
    return first;
}

static weir_pool_side *side_open(size_t count)
{
    weir_pool_side *side = calloc(1, sizeof *side + count * sizeof side->connections[0]);
    if (side == NULL) {
        return NULL;
    }
    side->lookup = weir_lookup_open();
    if (side->lookup == NULL) {
        free(side);
        return NULL;
    }
    side->process = getpid();
    side->count = count;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&side->given_back, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&side->lock, NULL);
    for (size_t i = count; i > 0; i--) {
        side->connections[i - 1].fd = -1;
        push(&side->empty, &side->connections[i - 1]);
    }
    return side;
}

static void side_close(weir_pool_side *side)
{
    for (size_t i = 0; i < side->count; i++) {
        weir_connection_close(&side->connections[i]);
        weir_buffer_free(&side->connections[i].out);
    }
    weir_lookup_close(side->lookup);
    pthread_cond_destroy(&side->given_back);
    pthread_mutex_destroy(&side->lock);
    free(side);
}

// Closes the sockets that a child inherited. What a thread was using at the fork may be half
// written, so only idle connections are freed, and only if nobody held the lock over them.
static void side_leave(weir_pool_side *side)
{
    if (pthread_mutex_trylock(&side->lock) == 0) {
        weir_connection *connection;
        while ((connection = pop(&side->idle)) != NULL) {
            weir_connection_close(connection);
            weir_buffer_free(&connection->out);
        }
        pthread_mutex_unlock(&side->lock);
    }
    for (size_t i = 0; i < side->count; i++) {
        if (side->connections[i].fd >= 0) {
            close(side->connections[i].fd);
            side->connections[i].fd = -1;
        }
    }
    weir_lookup_leave(side->lookup);
}

// This process's side. NULL for want of memory.
static weir_pool_side *side_of(weir_pool *pool)
{
    weir_pool_side *side = atomic_load(&pool->side);
    if (side->process == getpid()) {
        return side;
    }
    weir_pool_side *own = side_open(pool->settings->connections);
    if (own == NULL) {
        return NULL;
    }
    own->inherited = side;
    weir_pool_side *found = side;
    if (atomic_compare_exchange_strong(&pool->side, &found, own)) {
        side_leave(side);
        return own;
    }
    side_close(own); // another thread of the child was first
    return found;
}

weir_status weir_pool_open(weir_pool *pool, const weir_settings *settings, weir_error *error)
{
    pool->settings = settings;
    weir_pool_side *side = side_open(settings->connections);
    if (side == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "no memory for %zu connections",
                         settings->connections);
    }
    atomic_init(&pool->side, side);
    return WEIR_OK;
}

static weir_connection *take_free(weir_pool_side *side, int64_t deadline_us)
{
    const struct timespec until = weir_timespec(deadline_us);
    pthread_mutex_lock(&side->lock);
    weir_connection *connection = pop(&side->idle);
    int late = 0;
    while (connection == NULL && (connection = pop(&side->empty)) == NULL && late == 0) {
        late = pthread_cond_timedwait(&side->given_back, &side->lock, &until);
        connection = pop(&side->idle);
    }
    pthread_mutex_unlock(&side->lock);
    return connection;
}

static void give_back(weir_pool_side *side, weir_connection *connection)
{
    pthread_mutex_lock(&side->lock);
    push(connection->fd >= 0 ? &side->idle : &side->empty, connection);
    pthread_cond_signal(&side->given_back);
    pthread_mutex_unlock(&side->lock);
}

weir_status weir_pool_acquire(weir_pool *pool, int64_t deadline_us, weir_connection **out,
                              bool *again, weir_error *error)
{
    const weir_settings *settings = pool->settings;
    *again = false;
    weir_pool_side *side = side_of(pool);
    if (side == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "no memory for the connections of a forked child");
    }
    weir_connection *connection = take_free(side, deadline_us);
    if (connection == NULL) {
        return weir_fail(error, WEIR_NOT_EXECUTED,
                         "redis at %s: all %zu connections were in use until the deadline",
                         settings->address, settings->connections);
    }
    if (connection->fd >= 0 && !weir_connection_stands(connection)) {
        weir_connection_close(connection);
    }
    weir_status status = WEIR_OK;
    if (connection->fd < 0) {
        status =
            weir_connection_open(connection, side->lookup, settings, deadline_us, again, error);
        if (status == WEIR_OK) {
            status = weir_handshake(connection, settings, deadline_us, again, error);
        }
    }
    if (status != WEIR_OK) {
        weir_connection_close(connection);
        give_back(side, connection);
        return status;
    }
    *out = connection;
    return WEIR_OK;
}

void weir_pool_release(weir_pool *pool, weir_connection *connection, bool keep)
{
    if (!keep) {
        weir_connection_close(connection);
    }
    give_back(atomic_load(&pool->side), connection);
}

void weir_pool_close(weir_pool *pool)
{
    weir_pool_side *side = atomic_load(&pool->side);
    if (side->process != getpid()) { // a child that never used it
        side_leave(side);
        free(side);
        return;
    }
    while (side->inherited != NULL) {
        weir_pool_side *parent = side->inherited;
        side->inherited = parent->inherited;
        free(parent);
    }
    side_close(side);
}
