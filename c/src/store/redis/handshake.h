// What each new connection is told before anything else: password, database, name.

#ifndef WEIR_SRC_REDIS_HANDSHAKE_H
#define WEIR_SRC_REDIS_HANDSHAKE_H

#include "store/redis/connection.h"

// WEIR_OK, or why the server won't have us; nothing of the caller's has been sent. `again`: it may
// be otherwise soon.
weir_status weir_handshake(weir_connection *connection, const weir_settings *settings,
                           int64_t deadline_us, bool *again, weir_error *error);

#endif
