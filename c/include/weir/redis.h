// Limits kept in a Redis server and shared by all who reach it. Part of weir::redis, which brings
// hiredis.
//
// What happens when the server doesn't answer as it should:
//
//   nothing ran       NOT_EXECUTED LOADING BUSY READONLY   tried again within the deadline, for as
//                                                          long as the server said so itself
//                     SERVER_FULL
//   it may have run   INDETERMINATE                        never tried again
//   to be mended      WRONG_PASSWORD WRONG_DB NOT_PERMITTED NOT_REDIS PROTOCOL CROSS_SLOT
//                     WRONG_NODE STATE
//
// The first two groups are what `on_error` is for; the third is always an error.
//
// The server keeps a check's state under the key that key.h writes.

#ifndef WEIR_REDIS_H
#define WEIR_REDIS_H

#include "weir/store.h"

#ifdef __cplusplus
extern "C" {
#endif

// What take, take_all, take_many, peek and acquire answer when the server can't be asked. The other
// verbs return the error whatever is chosen.
typedef enum weir_on_error {
    WEIR_ON_ERROR_FAIL,  // "error": the status
    WEIR_ON_ERROR_DENY,  // "deny": WEIR_OK and a refusal to be tried again in a second
    WEIR_ON_ERROR_ALLOW, // "allow": WEIR_OK and a pass. Who can slow the server down then passes
} weir_on_error;

// A field that is given here wins over the URL's.
typedef struct weir_redis_options {
    // redis://[[user]:password@]host[:port][/db][?option=value&...], or
    // redis+unix://[[user]:password@]/path/of/socket[?...], with user, password, path and values
    // percent-encoded. Options: db, user, password, deadline=250ms, connections=8, name=weir,
    // on_error=error|deny|allow, cluster=yes|no. NULL: redis://127.0.0.1:6379/0
    const char *url;
    const char *user;     // of an access list; needs a password
    const char *password; // is in no message
    const char *name;     // what CLIENT LIST shows. NULL: "weir"

    int64_t deadline_us; // bounds a whole call: name look-up, connect, waits and all. 0: 250 ms
    size_t connections;  // the most at one time; a call beyond waits for one. 0: 8, at most 1024
    weir_on_error on_error;
    bool cluster; // the server is a node of a cluster: take_all wants one tag, or WEIR_CROSS_SLOT
    uint64_t reserved[4];
} weir_redis_options;

// Opens a store without connecting: each thread's first call does. Options are copied. After a fork
// parent and child may both use it; the child connects anew. WEIR_NO_MEMORY, or WEIR_INVALID with a
// sentence.
//
// With on_error deny or allow a call that got no answer is WEIR_OK, `source` in the decision says
// so, and the error still tells what was wrong.
WEIR_API weir_status weir_redis_open(weir_store **out, const weir_redis_options *options,
                                     weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
