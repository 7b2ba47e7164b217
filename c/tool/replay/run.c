// run: record -> request -> policy -> decision -> tally.

#include "replay/run.h"

#include <stdio.h>
#include <string.h>

#include <weir/memory.h>

#include "store/open.h"

static void note_failed(replay_totals *totals, const input *in, const input_record *from,
                        const weir_error *error, uint64_t *counter)
{
    ++*counter;
    if (totals->failed + totals->responses_failed > 1) {
        return;
    }
    snprintf(totals->failed_reason, sizeof totals->failed_reason, "%s", error->message);
    totals->failed_path = from->file->path;
    totals->failed_line = input_line_number(in, from);
}

// Whether a limit that counts refused; else a refusal was the policy's own word.
static bool limit_refused(const weir_outcome *outcome)
{
    for (size_t i = 0; i < outcome->count; i++) {
        if (!outcome->shadow[i] && !outcome->rows[i].allowed) {
            return true;
        }
    }
    return false;
}

static weir_status count_outcome(tally *counts, replay_totals *totals, const weir_outcome *outcome,
                                 int64_t time_us)
{
    if (outcome->allowed) {
        totals->allowed++;
    } else {
        totals->refused++;
    }
    totals->refused_by_policy += !outcome->allowed && !limit_refused(outcome);
    for (size_t i = 0; i < outcome->count; i++) {
        const weir_check *check = &outcome->checks[i];
        size_t limit = tally_limit_index(counts, check->limit, outcome->shadow[i]);
        if (limit == SIZE_MAX || !tally_count(counts, limit, check->key, check->key_size, time_us,
                                              outcome->rows[i].allowed, outcome->allowed)) {
            return WEIR_NO_MEMORY;
        }
    }
    return WEIR_OK;
}

// Whether the store has had to forget a live key, or had no room for a state.
static bool is_short(weir_store *store, const replay_totals *totals)
{
    weir_counters counters;
    weir_memory_counters(store, &counters);
    return counters.evicted > 0 || totals->full > 0;
}

weir_status replay_run(input *in, weir_policy *policy, weir_store *store, bool stop_when_short,
                       tally *counts, replay_totals *out, progress_function *progress,
                       weir_error *error)
{
    *out = (replay_totals){0};
    weir_runner *runner;
    weir_status status = weir_runner_open(&runner, policy, error);
    if (status != WEIR_OK) {
        return status;
    }
    bool responds = weir_policy_has_response(policy);
    weir_field fields[READER_FIELDS_MAX];
    input_record from;
    while (status == WEIR_OK && input_next(in, fields, &from)) {
        if ((++out->requests & 0x3fff) == 0) {
            if (progress) {
                progress("replaying", input_part(in));
            }
            if (stop_when_short && is_short(store, out)) {
                break;
            }
        }
        weir_request request = {
            .fields = from.fields, .count = from.count, .time_us = from.time_us};
        weir_outcome outcome;
        weir_status decided = weir_runner_decide(runner, store, &request, &outcome, error);
        if (store_is_away(decided)) { // the server's silence is no finding about the policy
            weir_runner_close(runner);
            return decided;
        }
        if (decided != WEIR_OK) {
            out->full += decided == WEIR_FULL;
            note_failed(out, in, &from, error, &out->failed);
            continue;
        }
        status = count_outcome(counts, out, &outcome, from.time_us);
        if (outcome.allowed && responds &&
            weir_runner_respond(runner, store, &request, from.fields, from.count, true, error) !=
                WEIR_OK) {
            note_failed(out, in, &from, error, &out->responses_failed);
        }
    }
    if (status == WEIR_OK && !tally_settle(counts)) {
        status = WEIR_NO_MEMORY;
    }
    if (status != WEIR_OK && error) {
        snprintf(error->message, sizeof error->message, "there is no memory for the statistics");
    }
    weir_runner_close(runner);
    return status;
}
