// run.h: asks the policy about each record of a log, in turn.

#ifndef WEIR_TOOL_RUN_H
#define WEIR_TOOL_RUN_H

#include <weir/policy.h>

#include "log/input.h"
#include "replay/tally.h"

typedef struct replay_totals {
    uint64_t requests;
    uint64_t allowed;
    uint64_t refused;
    uint64_t refused_by_policy; // of which no limit refused, but the policy itself
    uint64_t failed; // the policy or the store gave no answer: neither allowed nor refused
    uint64_t full;   // of which the store had no room
    uint64_t responses_failed; // allowed, but the policy's response function failed
    char failed_reason[508];   // of the first failure of either kind
    const char *failed_path;   // its log
    uint64_t failed_line;
} replay_totals;

// Runs through the whole input. WEIR_NO_MEMORY stops it; what a policy does wrong with one record
// is counted, and the next one is asked about; a server that does not answer stops it.
// `stop_when_short`: ends early when the store forgets a live key or has no room.
weir_status replay_run(input *in, weir_policy *policy, weir_store *store, bool stop_when_short,
                       tally *counts, replay_totals *out, progress_function *progress,
                       weir_error *error);

#endif
