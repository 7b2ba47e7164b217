// What a policy may use: memory in all; instructions and time of its thread in each call.
//
// The count hook alone is no defence: one instruction may compare megabytes, and one C function may
// loop for ever. So three things hold a policy together. Every C function it reaches charges for
// its work (budget_charge). The allocator refuses long strings and shortens the hook's interval
// when something large is made, so that no interval takes more than a few milliseconds. And the
// clock is read whenever about a thousand instructions' worth of work has been done since it was
// last read.
//
// A breach is final: the hook fires at every instruction from then on, pcall hands the error on,
// and the state is thrown away.

#ifndef WEIR_POLICY_BUDGET_H
#define WEIR_POLICY_BUDGET_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/status.h"

#define BUDGET_STRING_MAX ((size_t)64 * 1024)

typedef enum budget_breach {
    BREACH_NONE,
    BREACH_INSTRUCTIONS,
    BREACH_TIME,
    BREACH_MEMORY,
    BREACH_TEXT,   // a text longer than BUDGET_STRING_MAX
    BREACH_SYSTEM, // the system had no memory to give
} budget_breach;

// The allowance of a policy, every field filled.
typedef struct budget_terms {
    size_t memory_bytes;
    int64_t instructions;
    int64_t deadline_us;
} budget_terms;

typedef struct budget {
    lua_State *L;
    budget_terms terms;

    size_t memory_used;
    budget_breach refusal; // why the last allocation was refused

    bool running;
    int64_t instructions_left;
    int64_t pace;   // work until the clock is read again
    int64_t due_ns; // monotonic instant before which the deadline can't have passed. 0: not read
    int64_t started_ns; // time of the thread when the clock was first read
    int interval;       // instructions between two hooks
    int armed;          // instructions until the next hook, as it was last set

    budget_breach breach;
    char where[96]; // "file:line" of the breach, or of the last allocation refused
} budget;

// The budget of a running state: it stands at the address that the extra space of the state holds.
static inline budget *budget_of(lua_State *L)
{
    return *(budget **)lua_getextraspace(L);
}

void budget_init(budget *b, const budget_terms *terms);

// A lua_Alloc whose context is the budget.
void *budget_allocate(void *context, void *block, size_t old_size, size_t new_size);

// Starts the allowance of one call. `keep_clock`: the deadline goes on from the call before.
void budget_begin(budget *b, bool keep_clock);
void budget_end(budget *b);

// Takes the price of work from the allowance; one unit is about one instruction. Raises on a
// breach.
void budget_charge(lua_State *L, int64_t units);

// Raises when the deadline has passed. For work that no hook sees, such as compiling.
void budget_watch(lua_State *L);

// Ends the call for good: notes the breach where it happened and raises.
_Noreturn void budget_raise(lua_State *L, budget_breach breach);

// The same after LUA_ERRMEM, for the reason and at the place of the refusal.
_Noreturn void budget_raise_refusal(lua_State *L);

// The sentence of a breach and its status; `name` stands for the file when no line is known.
weir_status budget_fail(const budget *b, const char *name, weir_error *error);

#endif
