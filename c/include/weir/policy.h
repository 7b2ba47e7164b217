// A policy: a Lua script that turns a request into checks. Part of weir::policy, which brings
// Lua 5.4.
//
//   weir_policy    the source and its options; shared by threads, reloaded for all of them together
//   weir_runner    one instance of it with its own Lua state and limits; one a thread
//
// A policy is untrusted: it has a budget of instructions, memory and time for each call, reaches
// only a pinned list of functions, and sees of a request only the fields that it reads. One that
// breaks its budget is stopped with an error and its state rebuilt; the store is untouched, and the
// next request does not notice. Globals can't be written. Locals that a policy keeps between calls
// are its own affair: each runner has its own, and a rebuild or reload forgets them.
//
// The function of the request returns checks, or one list of checks, and every one must pass; or
// true, which passes without a limit. false or weir.deny(reason) among them refuses, and then no
// check is taken. Anything else, nil above all, is WEIR_POLICY.

#ifndef WEIR_POLICY_H
#define WEIR_POLICY_H

#include "weir/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_policy weir_policy;
typedef struct weir_runner weir_runner;

typedef struct weir_policy_options {
    size_t memory_bytes;  // of one runner. 0: 1 MiB
    int64_t instructions; // of one call, and of loading. 0: 200,000
    int64_t deadline_us;  // of one call, and of loading, in time of this thread. 0: 50 ms
    size_t field_bytes;   // the longest field that a policy may read. 0: 8 KiB
    bool cut_fields;      // a longer one is cut to that; otherwise reading it is an error
    uint64_t reserved[4];
} weir_policy_options;

// One field of a request or response. Text by pointer and size; `number` instead when `is_number`.
typedef struct weir_field {
    const char *name;
    const char *text; // NULL (and not is_number): the field is there and nil
    size_t text_size;
    double number;
    bool is_number;
} weir_field;

// What a policy may read as request.NAME. `time` is not among the fields: it is time_us, a whole
// number of microseconds.
typedef struct weir_request {
    const weir_field *fields;
    size_t count;
    int64_t time_us; // 0: the store's clock, read once
    uint64_t reserved[2];
} weir_request;

// What a policy said of one request. Pointers stay good until the next call on the runner.
typedef struct weir_verdict {
    bool refused;             // the policy's own word: no check is to be taken
    const char *reason;       // of weir.deny(reason); NULL otherwise
    const weir_check *checks; // to be taken all or none, but for those in shadow
    const bool *shadow;       // one a check
    size_t count;             // 0 when refused
    int64_t time_us;          // the instant at which to take them. 0: the store reads its own clock
    uint64_t reserved[2];
} weir_verdict;

// What a policy said of one request, and what the store answered. Pointers stay good until the next
// call on the runner.
typedef struct weir_outcome {
    bool allowed;           // the policy's word and every check that is not in shadow
    const char *reason;     // of weir.deny(reason); NULL otherwise
    weir_decision decision; // the joint decision of the checks that count, its binding an index of
                            // checks; all nought when there were none
    const weir_limit *binding; // the limit that binds; NULL when no check counted
    const weir_check *checks;  // every check the policy returned, in order, those in shadow too
    const weir_decision *rows; // one a check
    const bool *shadow;        // one a check: reported and never refuses
    size_t count;
    uint64_t reserved[2];
} weir_outcome;

typedef enum weir_settle_verb {
    WEIR_SETTLE_REFUND,
    WEIR_SETTLE_CHARGE,
    WEIR_SETTLE_RELEASE,
} weir_settle_verb;

// What a policy asked for after a response, in order; each is done by itself. Pointers stay good
// until the next call on the runner.
typedef struct weir_settlement {
    const weir_settle_verb *verbs; // one a check
    const weir_check *checks;
    size_t count;
    int64_t time_us; // the instant at which to do it. 0: the store reads its own clock
    uint64_t reserved[2];
} weir_settlement;

// Reads and compiles a policy file, and runs it once to make its limits, so that mistakes show now.
// WEIR_POLICY or WEIR_POLICY_BUDGET with file, line and reason; WEIR_IO when the file cannot be
// read.
WEIR_API weir_status weir_policy_open(weir_policy **out, const char *path,
                                      const weir_policy_options *options, weir_error *error);

// The same from text, which is copied; `name` stands for the file in messages.
WEIR_API weir_status weir_policy_open_text(weir_policy **out, const char *name, const char *text,
                                           size_t text_size, const weir_policy_options *options,
                                           weir_error *error);

// Reads the file again (or takes new text). When it is good all runners use it from their next call
// on; when it is not, the last good policy stays and the error says what was wrong with the new
// one. What stores have recorded stays.
WEIR_API weir_status weir_policy_reload(weir_policy *policy, weir_error *error);
WEIR_API weir_status weir_policy_reload_text(weir_policy *policy, const char *text,
                                             size_t text_size, weir_error *error);

// The limits of the policy as last loaded, in the order in which they were made, for reports. Good
// until the next reload, and till then the limits of outcomes are these, by address.
WEIR_API size_t weir_policy_limits(const weir_policy *policy, const weir_limit *const **out_limits,
                                   const bool **out_shadow);

// Whether the policy as last loaded has a `response` function. Not while another thread reloads.
WEIR_API bool weir_policy_has_response(const weir_policy *policy);

// Closes the policy; its runners must be closed first.
WEIR_API void weir_policy_close(weir_policy *policy);

// An instance for one thread.
WEIR_API weir_status weir_runner_open(weir_runner **out, weir_policy *policy, weir_error *error);
WEIR_API void weir_runner_close(weir_runner *runner);

// Asks the policy, then the store. Checks in shadow are taken by themselves after the others have
// passed, and only peeked at when they have not; one that the store could not answer has its status
// in its row. On an error nothing was recorded. WEIR_POLICY or WEIR_POLICY_BUDGET with file, line
// and reason, or what the store said.
WEIR_API weir_status weir_runner_decide(weir_runner *runner, weir_store *store,
                                        const weir_request *request, weir_outcome *out,
                                        weir_error *error);

// After the request was served: runs the policy's `response` with the same request and the fields
// of the response (`response.allowed` is `allowed`), then applies the refunds, charges and releases
// that it asked for, all after it has returned; one that fails leaves the others alone, and the
// first failure is returned. Does nothing when the policy has no `response`.
WEIR_API weir_status weir_runner_respond(weir_runner *runner, weir_store *store,
                                         const weir_request *request, const weir_field *response,
                                         size_t response_count, bool allowed, weir_error *error);

// The policy's part of decide and of respond alone, for a host whose store can't answer within one
// call: it does in its own time what the policy said. `store` is for limit:peek and the clock; NULL
// when there is none in this process. Then limit:peek is an error of the policy, WEIR_POLICY, its
// request.time is Unix time of this host, and the checks are for the clock of the host's store
// unless the request gave a time.
WEIR_API weir_status weir_runner_ask(weir_runner *runner, weir_store *store,
                                     const weir_request *request, weir_verdict *out,
                                     weir_error *error);
WEIR_API weir_status weir_runner_settle(weir_runner *runner, weir_store *store,
                                        const weir_request *request, const weir_field *response,
                                        size_t response_count, bool allowed, weir_settlement *out,
                                        weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
