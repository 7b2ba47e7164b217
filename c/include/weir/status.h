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
    X(WRONG_ABI, -8, "the library is not the one that this program was built for")

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
