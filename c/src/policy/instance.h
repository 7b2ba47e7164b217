// One instance of a policy: its Lua state, and the call that is running in it.

#ifndef WEIR_POLICY_INSTANCE_H
#define WEIR_POLICY_INSTANCE_H

#include <lauxlib.h>
#include <locale.h>
#include <lua.h>

#include "budget.h"
#include "source.h"

#include "weir/policy.h"

// Keys and ids of one call, in all.
#define INSTANCE_TEXT_MAX ((size_t)256 * 1024)

typedef enum call_phase { PHASE_LOAD, PHASE_REQUEST, PHASE_RESPONSE } call_phase;

// What the policy asked of a limit in this call. Texts are offsets into the instance's text.
typedef struct ask {
    weir_settle_verb verb; // in a response; a request asks for nothing but checks
    size_t limit;          // the index in the source
    size_t key, key_size;
    size_t id, id_size;
    int64_t cost;
} ask;

// What a request is decided with, for the policy to read.
typedef struct call_subject {
    weir_store *store; // NULL: there is none in this process
    const weir_request *request;
    const weir_field *response;
    size_t response_count;
    bool allowed;
} call_subject;

typedef struct instance {
    budget budget; // first: budget_of finds it by the state's extra space
    lua_State *L;
    locale_t locale; // "C", so that the host's changes neither numbers nor comparisons
    source *source;
    bool made[SOURCE_LIMITS_MAX]; // the limits that this instance has made while loading
    bool dead;                    // broke its budget: to be thrown away

    call_phase phase;
    uintptr_t call;
    call_subject subject;
    int64_t now_us;          // 0: not yet read
    weir_status peek_status; // of a store that could not answer a peek

    ask asks[WEIR_CHECKS_MAX];
    size_t ask_count;
    char *text;
    size_t text_used, text_size;

    bool has_reason;
    char reason[256];
} instance;

static inline instance *instance_of(lua_State *L)
{
    return (instance *)budget_of(L);
}

// Runs the source in a new state. Without compiled code it compiles `text` and keeps the code, and
// the limits that the policy makes, in the source. Keeps a reference to the source.
weir_status instance_open(instance **out, source *source, const char *text, size_t text_size,
                          weir_error *error);
void instance_close(instance *in);

// Calls the policy's function of the phase. What it returned lies on the stack above index
// INSTANCE_BASE, until instance_finish. `keep_clock`: the deadline goes on from the load before.
enum { INSTANCE_BASE = 2 };
weir_status instance_call(instance *in, call_phase phase, const call_subject *subject,
                          bool keep_clock, weir_error *error);
void instance_finish(instance *in);

// The time of the call: given, or read once, from the store's clock or, without one, this host's.
int64_t instance_now_us(instance *in);

// Keeps bytes until the next call. Raises.
size_t instance_keep(instance *in, const void *bytes, size_t size);

// The check that an ask stands for. Good until the next instance_keep.
weir_check instance_check(const instance *in, const ask *asked);

#endif
