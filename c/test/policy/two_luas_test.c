// In a process that loaded LuaJIT first, as nginx does, the library refuses with a sentence, or
// runs when it was loaded with RTLD_DEEPBIND.
//
// Each case is a process of its own, since a library is bound once.

#define _GNU_SOURCE
#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef weir_status (*open_text)(weir_policy **, const char *, const char *, size_t,
                                 const weir_policy_options *, weir_error *);

// Exit statuses of the child.
enum { RAN, REFUSED, NO_LUAJIT, WRONG };

static int load_policy(int flags)
{
    static const char text[] = "return function() return true end";
    if (dlopen("libluajit-5.1.so.2", RTLD_NOW | RTLD_GLOBAL) == NULL) {
        return NO_LUAJIT;
    }
    void *library = dlopen(WEIR_POLICY_LIBRARY, RTLD_NOW | flags);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return WRONG;
    }
    open_text open = (open_text)dlsym(library, "weir_policy_open_text");
    weir_policy *policy;
    weir_error error = {.message = ""};
    const weir_status status = open(&policy, "policy.lua", text, strlen(text), NULL, &error);
    if (status == WEIR_OK) {
        return RAN;
    }
    const bool says_so = strstr(error.message, "is not Lua 5.4") != NULL;
    return status == WEIR_POLICY && says_so ? REFUSED : WRONG;
}

static void assert_loads(int flags, int expected)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(load_policy(flags));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_LUAJIT) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), expected);
}

static void another_lua_is_refused(void **state)
{
    (void)state;
    assert_loads(0, REFUSED);
}

static void bound_deeply_it_runs(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); // sanitizers refuse RTLD_DEEPBIND
#endif
    assert_loads(RTLD_DEEPBIND, RAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_lua_is_refused),
                                       cmocka_unit_test(bound_deeply_it_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
