// One door for errors: fill the caller's sentence and return the status.

#ifndef WEIR_SRC_ERROR_H
#define WEIR_SRC_ERROR_H

#include "weir/status.h"

// Fills error, which may be NULL, and returns status. Control characters and bytes outside ASCII
// become '?', since a sentence may quote what an attacker sent and ends in logs and on terminals.
__attribute__((format(printf, 3, 4))) weir_status weir_fail(weir_error *error, weir_status status,
                                                            const char *format, ...);

#endif
