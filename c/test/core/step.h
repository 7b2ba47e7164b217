// Runs a child to its nth instruction: by breakpoint as near as may be, then by single steps.
//
// Stepping costs two switches of process an instruction. So the child's way is walked once and its
// addresses noted; to come to the nth step again it runs freely to an address that it passes only a
// few times until then, and steps the rest.

#ifndef WEIR_TEST_STEP_H
#define WEIR_TEST_STEP_H

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "support.h"

#define STEPS_MAX 100000
#define HIT_COST  3 // of passing a breakpoint, in steps

typedef struct walk {
    unsigned length;                // how many instructions the way has
    uintptr_t addresses[STEPS_MAX]; // where the child is after so many steps
    unsigned passes[STEPS_MAX];     // how often it has been there by then
    unsigned nearest[STEPS_MAX];    // the step to run to by breakpoint; 0 for none
} walk;

// False when the child is gone.
static inline bool resume(pid_t child, int request)
{
    int status;
    assert_int_equal(ptrace(request, child, NULL, NULL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSTOPPED(status);
}

static inline uintptr_t address_of(pid_t child)
{
    struct user_regs_struct registers;
    assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &registers), 0);
    return registers.rip;
}

static inline void go_back(pid_t child, uintptr_t address)
{
    struct user_regs_struct registers;
    assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &registers), 0);
    registers.rip = address;
    assert_int_equal(ptrace(PTRACE_SETREGS, child, NULL, &registers), 0);
}

// Writes down one step more. The child is where it is after it.
static inline void walk_on(walk *w, pid_t child)
{
    const unsigned n = ++w->length;
    assert_true(n < STEPS_MAX);
    w->addresses[n] = address_of(child);
    w->passes[n] = 1;
    for (unsigned i = n - 1; i > 0; i--) {
        if (w->addresses[i] == w->addresses[n]) {
            w->passes[n] += w->passes[i];
            break;
        }
    }
    const unsigned before = w->nearest[n - 1];
    const unsigned stepped = n - before + HIT_COST * (before > 0 ? w->passes[before] : 0);
    w->nearest[n] = HIT_COST * w->passes[n] < stepped ? n : before;
}

static inline bool run_to(const walk *w, pid_t child, unsigned step)
{
    const uintptr_t address = w->addresses[step];
    errno = 0;
    const long text = ptrace(PTRACE_PEEKTEXT, child, address, NULL);
    assert_int_equal(errno, 0);
    const long trap = (text & ~0xffL) | 0xcc;
    for (unsigned pass = 0; pass < w->passes[step]; pass++) {
        if (pass > 0 && !resume(child, PTRACE_SINGLESTEP)) {
            return false;
        }
        assert_int_equal(ptrace(PTRACE_POKETEXT, child, address, trap), 0);
        if (!resume(child, PTRACE_CONT)) {
            return false;
        }
        assert_int_equal(address_of(child), address + 1);
        assert_int_equal(ptrace(PTRACE_POKETEXT, child, address, text), 0);
        go_back(child, address);
    }
    return true;
}

// Brings a child that stands where the walk began to its nth step. False when it ended before.
static inline bool walk_to(const walk *w, pid_t child, unsigned n)
{
    const unsigned near = n <= w->length ? w->nearest[n] : 0;
    bool lives = near == 0 || run_to(w, child, near);
    for (unsigned i = near; lives && i < n; i++) {
        lives = resume(child, PTRACE_SINGLESTEP);
    }
    return lives;
}

#endif
