// What the tests of policies share: a policy from text, a store, a request by names and texts.

#ifndef WEIR_TEST_POLICY_SUPPORT_H
#define WEIR_TEST_POLICY_SUPPORT_H

// cmocka wants these before itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weir.h"
#include "weir/policy.h"

// An instant on the whole minute, hour and day, in UTC.
#define T0 (INT64_C(20000) * WEIR_DAY)

typedef struct fixture {
    weir_policy *policy;
    weir_runner *runner;
    weir_store *store;
    weir_error error;
    weir_outcome outcome;
} fixture;

// Opens the text as "policy.lua" with default options, a runner and a store. Fails the test
// otherwise.
void fixture_open(fixture *f, const char *text);
void fixture_open_with(fixture *f, const char *text, const weir_policy_options *options);
void fixture_close(fixture *f);

// Decides a request whose only field is user; NULL: nil.
weir_status fixture_ask(fixture *f, const char *user, int64_t time_us);

// Decides a request of one field.
weir_status fixture_ask_field(fixture *f, weir_field field, int64_t time_us);

// Answers with the response to a request of user; success is a field of the response.
weir_status fixture_respond(fixture *f, const char *user, bool allowed, const char *success,
                            int64_t time_us);

// The policy fails to open, with this status, and its sentence has all these pieces.
void assert_refused(const char *text, weir_status status, const char *piece, const char *other);

void assert_has(const char *text, const char *piece);

// Reads a whole file. The caller frees.
char *read_all(const char *path, size_t *out_size);

#endif
