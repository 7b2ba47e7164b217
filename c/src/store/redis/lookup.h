// Looking a host's name up, with an end: the system's resolver has none of its own.

#ifndef WEIR_SRC_REDIS_LOOKUP_H
#define WEIR_SRC_REDIS_LOOKUP_H

#include <stddef.h>
#include <sys/socket.h>

#include "store/redis/settings.h"

typedef struct weir_lookup weir_lookup;

#define WEIR_ADDRESSES_MAX 8

typedef struct weir_addresses {
    size_t count;
    struct {
        struct sockaddr_storage address;
        socklen_t size;
    } at[WEIR_ADDRESSES_MAX];
} weir_addresses;

// NULL for want of memory.
weir_lookup *weir_lookup_open(void);

// The addresses of the settings' host and port, or of its socket's path. A name is looked up in a
// thread of its own, one at a time; callers wait for it together, each until its own deadline.
// WEIR_NOT_EXECUTED when there is none by then.
weir_status weir_lookup_find(weir_lookup *lookup, const weir_settings *settings,
                             int64_t deadline_us, weir_addresses *out, weir_error *error);

// A look-up that still runs keeps its memory until it ends.
void weir_lookup_close(weir_lookup *lookup);

// Frees what a forked child inherited: the thread stayed with the parent.
void weir_lookup_leave(weir_lookup *lookup);

#endif
