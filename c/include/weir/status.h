// What a function returns, and the sentence for the person who must mend it.

#ifndef WEIR_STATUS_H
#define WEIR_STATUS_H

#include <stdint.h>

#include "weir/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// One list makes the codes, their names and what they mean in general.
#define WEIR_STATUS_LIST(X)                                                                        \
    X(OK, 0, "done")                                                                               \
    X(INVALID, -1, "a value given is not one that weir takes")                                     \
    X(NO_MEMORY, -2, "memory could not be had")                                                    \
    X(FULL, -3, "the store has no room left for the state of this limit")                          \
    X(STATE, -4, "what is kept under this key was not written by this algorithm")                  \
    X(IO, -5, "a file could not be read or written")                                               \
    X(POLICY, -6, "the policy is wrong, or returned what is not a decision")                       \
    X(POLICY_BUDGET, -7, "the policy ran too long or grew too large")                              \
    X(WRONG_ABI, -8, "the library is not the one that this program was built for")                 \
    X(INDETERMINATE, -9,                                                                           \
      "the store did not answer in time, or went away: the call was counted once or not at all")   \
    X(NOT_EXECUTED, -10,                                                                           \
      "the store could not be reached or would not do it now: nothing was counted")                \
    X(LOADING, -11, "the server is loading its data: nothing was counted")                         \
    X(BUSY, -12, "the server is busy with another script: nothing was counted")                    \
    X(READONLY, -13, "the server is a replica, which takes no writes: nothing was counted")        \
    X(SERVER_FULL, -14, "the server has no memory left: nothing was counted")                      \
    X(WRONG_PASSWORD, -15, "the server wants another user or password: nothing was counted")       \
    X(WRONG_DB, -16, "the server has no database of that number: nothing was counted")             \
    X(NOT_PERMITTED, -17, "the server's user may not do this: nothing was counted")                \
    X(NOT_REDIS, -18, "what answers there is not a Redis server: nothing was counted")             \
    X(PROTOCOL, -19, "the answer was not one to this call: it was counted once or not at all")     \
    X(CROSS_SLOT, -20,                                                                             \
      "checks of one list live on several nodes of a cluster: nothing was counted")                \
    X(WRONG_NODE, -21, "the key lives on another node of the cluster: nothing was counted")        \
    X(MISMATCH, -22, "what is there under this name was made otherwise")

typedef enum weir_status {
#define WEIR_STATUS_CODE(name, code, meaning) WEIR_##name = code,
    WEIR_STATUS_LIST(WEIR_STATUS_CODE)
#undef WEIR_STATUS_CODE
} weir_status;

// One clear sentence: the field, what it was and what would do. Printable, cut to fit, always ended
// by a NUL.
typedef struct weir_error {
    weir_status status;
    char message[508];
} weir_error;

// "WEIR_INVALID" and the like; "unknown status" for a code that is none. Static text.
WEIR_API const char *weir_status_name(weir_status status);

// What the code means in general. Static text.
WEIR_API const char *weir_status_meaning(weir_status status);

// The interface that a program was built for, and the one that the library has. A binding that
// loads the library at run time compares them first.
#define WEIR_ABI 1
WEIR_API int weir_abi(void);

// The version of the library, such as "0.1.0". Static text.
WEIR_API const char *weir_version(void);

#ifdef __cplusplus
}
#endif

#endif
