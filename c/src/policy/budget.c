// Counting what a policy uses, and stopping it.

#include "budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"

#include "weir/duration.h"

enum {
    INTERVAL = 1000,
    PACE = 1000,
    REFUSAL_PRICE = 20000, // an allocation refused costs a full collection
    LARGE = 128,
    GLANCE_NS = 1000000, // how long a call may run before its time is counted
};

// The longest string times the interval: comparing strings of NULs costs 15 ns a byte.
#define STRING_WORK ((size_t)128 * 1024)
// The largest other block times the interval: copying a stack of arguments costs 1 ns a value.
#define BLOCK_WORK ((size_t)32 * 1024 * 1024)

void budget_init(budget *b, const budget_terms *terms)
{
    *b = (budget){
        .terms = *terms, .refusal = BREACH_MEMORY, .interval = INTERVAL, .armed = INTERVAL};
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// The nearest line of the policy. The vocabulary's own lines help nobody.
static void note_place(budget *b)
{
    lua_Debug at;
    b->where[0] = '\0';
    for (int level = 0; level < 12 && lua_getstack(b->L, level, &at); level++) {
        lua_getinfo(b->L, "Sl", &at);
        if (at.currentline > 0 && at.source[0] == '@') {
            snprintf(b->where, sizeof b->where, "%s:%d", at.short_src, at.currentline);
            return;
        }
    }
}

static void hook(lua_State *L, lua_Debug *at);

static void arm(budget *b, int count)
{
    b->armed = count;
    lua_sethook(b->L, hook, LUA_MASKCOUNT, count);
}

static void breach(budget *b, budget_breach kind)
{
    if (b->breach == BREACH_NONE) {
        b->breach = kind;
        note_place(b);
    }
    arm(b, 1);
}

_Noreturn static void raise(budget *b)
{
    lua_pushlightuserdata(b->L, b);
    lua_error(b->L);
    abort(); // lua_error does not return
}

_Noreturn void budget_raise(lua_State *L, budget_breach kind)
{
    budget *b = budget_of(L);
    breach(b, kind);
    raise(b);
}

_Noreturn void budget_raise_refusal(lua_State *L)
{
    budget *b = budget_of(L);
    if (b->breach == BREACH_NONE) {
        b->breach = b->refusal;
    }
    arm(b, 1);
    raise(b);
}

// The monotonic clock is the cheaper one, and time of the thread never runs ahead of it: until
// due_ns nothing else is read. A call that is over at once never reads the other.
static bool deadline_has_passed(budget *b)
{
    const int64_t now_ns = read_clock(CLOCK_MONOTONIC);
    b->pace = PACE;
    if (b->due_ns == 0) {
        b->due_ns = now_ns + GLANCE_NS;
    }
    if (now_ns < b->due_ns) {
        return false;
    }
    const int64_t thread_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (b->started_ns == 0) {
        b->started_ns = thread_ns;
    }
    const int64_t left_ns = b->terms.deadline_us * 1000 - (thread_ns - b->started_ns);
    b->due_ns = now_ns + left_ns;
    return left_ns <= 0;
}

static void spend(budget *b, int64_t instructions, int64_t work)
{
    b->instructions_left -= instructions;
    b->pace -= work;
    if (b->breach == BREACH_NONE && b->instructions_left < 0) {
        breach(b, BREACH_INSTRUCTIONS);
    }
    if (b->breach == BREACH_NONE && b->pace <= 0 && deadline_has_passed(b)) {
        breach(b, BREACH_TIME);
    }
    if (b->breach != BREACH_NONE) {
        raise(b);
    }
}

// An interval is as much work as the pace, however few instructions it has.
static void hook(lua_State *L, lua_Debug *at)
{
    (void)at;
    budget *b = budget_of(L);
    spend(b, b->armed, PACE);
    if (b->armed != b->interval) {
        arm(b, b->interval);
    }
}

void budget_charge(lua_State *L, int64_t units)
{
    spend(budget_of(L), units, units);
}

void budget_watch(lua_State *L)
{
    spend(budget_of(L), 0, PACE);
}

void budget_begin(budget *b, bool keep_clock)
{
    b->running = true;
    b->instructions_left = b->terms.instructions;
    b->pace = PACE;
    b->refusal = BREACH_MEMORY;
    b->where[0] = '\0';
    if (!keep_clock) {
        b->due_ns = b->started_ns = 0;
    }
    arm(b, b->interval);
}

void budget_end(budget *b)
{
    b->running = false;
}

// A block so large that instructions may take long on it: fewer of them until the next hook, and
// the work of making it is counted.
static void note_large(budget *b, bool is_string, size_t size)
{
    size_t interval = (is_string ? STRING_WORK : BLOCK_WORK) / size;
    if (interval < (size_t)b->interval) {
        b->interval = interval > 1 ? (int)interval : 1;
    }
    b->pace -= (int64_t)(size / 64);
    if (b->running && b->armed != 1 && (b->pace <= 0 || b->armed > b->interval)) {
        b->instructions_left -= b->armed - 1;
        arm(b, 1);
    }
}

// Lua collects all it can after a refusal and asks again, so refusals have a price.
static void *refuse(budget *b, budget_breach why)
{
    b->refusal = why;
    if (b->running) {
        note_place(b);
        b->instructions_left -= REFUSAL_PRICE;
        b->pace = 0;
        arm(b, 1);
    }
    return NULL;
}

void *budget_allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    budget *b = context;
    size_t held = block == NULL ? 0 : old_size;
    if (new_size == 0) {
        free(block);
        b->memory_used -= held;
        return NULL;
    }
    if (new_size > held) {
        // For a new object the old size tells its type.
        bool is_string = block == NULL && old_size == LUA_TSTRING;
        if (is_string && new_size > BUDGET_STRING_MAX + LARGE) {
            return refuse(b, BREACH_TEXT);
        }
        if (new_size - held > b->terms.memory_bytes - b->memory_used) {
            return refuse(b, BREACH_MEMORY);
        }
        if (new_size > LARGE) {
            note_large(b, is_string, new_size);
        }
    }
    void *moved = realloc(block, new_size);
    if (moved == NULL) {
        if (new_size <= held) {
            moved = block; // a block that shrinks may stay
        } else {
            return refuse(b, BREACH_SYSTEM);
        }
    }
    b->memory_used += new_size - held;
    return moved;
}

weir_status budget_fail(const budget *b, const char *name, weir_error *error)
{
    char deadline[WEIR_DURATION_TEXT];
    const char *where = b->where[0] != '\0' ? b->where : name;
    switch (b->breach) {
    case BREACH_INSTRUCTIONS:
        return weir_fail(error, WEIR_POLICY_BUDGET,
                         "%s: the policy used more than its %lld instructions", where,
                         (long long)b->terms.instructions);
    case BREACH_TIME:
        return weir_fail(error, WEIR_POLICY_BUDGET, "%s: the policy ran longer than its %s", where,
                         weir_duration_format(b->terms.deadline_us, deadline));
    case BREACH_TEXT:
        return weir_fail(error, WEIR_POLICY_BUDGET,
                         "%s: the policy made a text longer than %zu bytes", where,
                         BUDGET_STRING_MAX);
    case BREACH_SYSTEM:
        return weir_fail(error, WEIR_NO_MEMORY, "%s: memory could not be had", where);
    case BREACH_MEMORY:
    case BREACH_NONE:
        break;
    }
    return weir_fail(error, WEIR_POLICY_BUDGET, "%s: the policy grew larger than its %zu bytes",
                     where, b->terms.memory_bytes);
}
