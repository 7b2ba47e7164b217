// A call: what one verb asks of the server, and the engine that gets calls answered.

#ifndef WEIR_SRC_REDIS_CALL_H
#define WEIR_SRC_REDIS_CALL_H

#include "store/redis/pool.h"
#include "store/store.h"
#include "weir_scripts.h"

// The most calls in one pipeline.
#define WEIR_CALLS_MAX 256

typedef enum weir_call_kind {
    WEIR_CALL_ONE,   // a limit's own script
    WEIR_CALL_ALL,   // several limits, all or none
    WEIR_CALL_RESET, // DEL
} weir_call_kind;

typedef struct weir_call {
    weir_call_kind kind;
    weir_verb verb;
    const weir_check *checks;
    size_t count; // of checks
    int64_t now_us;
    weir_decision *out;
    weir_decision *rows; // ALL: one a check
    const weir_script *script;

    weir_status status; // once it is answered or given up
    bool pending;
    unsigned unknown; // how often the server did not know the script
    size_t end;       // where its bytes end in the pipeline
} weir_call;

// Writes the call's command. `with_body`: EVAL with the script's text; else its digest will do.
void weir_call_write(const weir_call *call, bool with_body, weir_buffer *out);

// The reply to the call. False when it is not one.
bool weir_call_read(weir_call *call, const weir_reply *reply);

// Sends the calls in one pipeline and has each answered, or given up, by the deadline. Returns the
// first status that is not WEIR_OK, with its sentence.
weir_status weir_calls_run(weir_pool *pool, weir_call *calls, size_t count, int64_t deadline_us,
                           weir_error *error);

#endif
