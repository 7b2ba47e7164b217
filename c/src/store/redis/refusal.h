// What a server's error says: which status, whether it may pass soon, whether this connection is
// the wrong one.

#ifndef WEIR_SRC_REDIS_REFUSAL_H
#define WEIR_SRC_REDIS_REFUSAL_H

#include <stdbool.h>

#include "weir/status.h"

typedef struct weir_refusal {
    const char *code; // what the error begins with
    weir_status status;
    bool again;           // nothing ran, and what hinders it may pass
    bool drop;            // another connection may reach a server that would do it
    const char *sentence; // what is wrong and what would mend it
} weir_refusal;

// The refusal that an error's text is. Older servers wrap the error of a command that a script
// called in their own; it is found in there. Never NULL: an error that nobody knows is PROTOCOL.
const weir_refusal *weir_refusal_of(const char *text);

// The script is not on the server: the same call goes again with its text.
bool weir_refusal_is_no_script(const weir_refusal *refusal);

#endif
