// weir replay: what a policy would have refused on real logs.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/memory.h>
#include <weir/policy.h>

#include "command.h"
#include "log/input.h"
#include "progress.h"
#include "replay/fail_if.h"
#include "replay/report.h"
#include "replay/run.h"
#include "replay/tally.h"
#include "store/apart.h"
#include "store/open.h"
#include "text.h"

#define CONDITIONS_MAX 16
#define TOP_MAX        100000

#define OPTIONS(X)                                                                                 \
    X(AS_LOGGED, "as-logged", NULL, "stream the records in the order of the logs, unsorted")       \
    X(TIME, "time", "FIELD", "the field with the time; else it is found by its name and look")     \
    X(TOP, "top", "N", "how many of the keys refused most to show; 10")                            \
    X(FAIL_IF, "fail-if", "CONDITION",                                                             \
      "exit with 1 when it holds, as \"refused > 1%\"; repeatable")                                \
    X(STORE, "store", "URL", "on a Redis store, under keys of this run; else in memory")           \
    X(MEMORY, "memory", "SIZE", "of the store, as 64MiB; else as the log needs")                   \
    X(JSON, "json", NULL, "the report as JSON, for programs")

enum {
#define OPTION_CODE(code, name, argument, help) OPTION_##code,
    OPTIONS(OPTION_CODE)
#undef OPTION_CODE
};
static const option_spec specs[] = {
#define OPTION_SPEC(code, name, argument, help) {name, argument, help},
    OPTIONS(OPTION_SPEC)
#undef OPTION_SPEC
};
#define SPECS (sizeof specs / sizeof *specs)

static const char details[] =
    "Reads logs that are combined, common, JSON lines or tab-separated under a header line, plain\n"
    "or gzip (\"-\" is the standard input), asks the policy about each record at its own time, "
    "and\n"
    "reports who would have been refused. The fields of a record are the fields of the request:\n"
    "address, user, method, path, protocol, status, size, referrer and agent for web logs, the\n"
    "columns or members for others, all as text. If the policy has a response function, it sees\n"
    "the same fields after each allowed record.\n"
    "\n"
    "  weir replay chat.lua access.log access.log.1.gz\n"
    "  weir replay chat.lua --fail-if \"refused > 1%\" --json access.log\n";

typedef struct replay_options {
    const char *policy;
    char **logs;
    size_t log_count;
    bool as_logged, json;
    const char *time_name;
    size_t top;
    const char *url;     // of a Redis store; NULL: in memory
    size_t memory_bytes; // 0: as the log needs
    fail_if conditions[CONDITIONS_MAX];
    size_t condition_count;
} replay_options;

// Reads one option's value. False: it has been said what is wrong with it.
static bool take_option(replay_options *o, int code, const char *value)
{
    char error[400];
    uint64_t top;
    switch (code) {
    case OPTION_AS_LOGGED:
        o->as_logged = true;
        return true;
    case OPTION_JSON:
        o->json = true;
        return true;
    case OPTION_TIME:
        o->time_name = value;
        return true;
    case OPTION_STORE:
        o->url = value;
        return true;
    case OPTION_TOP:
        if (!text_whole_parse(value, TOP_MAX, &top)) {
            complain("replay: --top was \"%s\"; it must be a whole number from 0 to %d", value,
                     TOP_MAX);
            return false;
        }
        o->top = (size_t)top;
        return true;
    case OPTION_MEMORY:
        if (!text_size_parse(value, &o->memory_bytes) || o->memory_bytes == 0) {
            complain("replay: --memory was \"%s\"; it must be a size such as 64MiB", value);
            return false;
        }
        return true;
    default:
        if (o->condition_count == CONDITIONS_MAX) {
            complain("replay: --fail-if can be given %d times at most", CONDITIONS_MAX);
            return false;
        }
        if (!fail_if_parse(&o->conditions[o->condition_count++], value, error, sizeof error)) {
            complain("replay: %s", error);
            return false;
        }
        return true;
    }
}

// EXIT_FINE to go on, or what to leave with. OPTIONS_HELP: help was given.
static int read_options(replay_options *o, int argc, char **argv)
{
    *o = (replay_options){.top = 10};
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    const char *value;
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        if (!take_option(o, code, value)) {
            return EXIT_MISUSE;
        }
    }
    if (code == OPTIONS_HELP) {
        command_help("replay", details, specs, SPECS);
        return OPTIONS_HELP;
    }
    if (code == OPTIONS_WRONG) {
        return EXIT_MISUSE;
    }
    if (reader.words < 2) {
        complain("replay: a policy and at least one log must be given; weir replay --help says "
                 "more");
        return EXIT_MISUSE;
    }
    if (o->url && o->memory_bytes > 0) {
        complain("replay: --memory is for a store in memory, and --store names another");
        return EXIT_MISUSE;
    }
    o->policy = argv[1];
    o->logs = argv + 2;
    o->log_count = (size_t)reader.words - 1;
    return EXIT_FINE;
}

// How much a store needs for the log. Nobody knows before how many keys there are, and a small
// table is a fast one: the first fits in a cache, and when it has to forget a live key the replay
// starts over with eight times as much.
typedef struct store_size {
    size_t table_bytes, side_bytes;
} store_size;

#define FIRST_BYTES ((size_t)2 << 20)
#define GROWTH      8

static bool has_side(const weir_limit *limit)
{
    return limit->algorithm == WEIR_SLIDING_LOG || limit->algorithm == WEIR_CONCURRENCY ||
           (limit->algorithm == WEIR_SLIDING_COUNTER && limit->slots > 1);
}

static store_size first_size(const weir_policy *policy)
{
    const weir_limit *const *limits;
    const bool *shadow;
    size_t count = weir_policy_limits(policy, &limits, &shadow), sides = 0;
    for (size_t i = 0; i < count; i++) {
        sides += has_side(limits[i]);
    }
    return (store_size){.table_bytes = FIRST_BYTES, .side_bytes = sides ? FIRST_BYTES : 0};
}

// A quarter of the machine's memory, and what --memory says when it does.
static size_t most_bytes(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) / 4 * (size_t)sysconf(_SC_PAGESIZE);
}

static weir_status open_store(weir_store **store, const replay_options *o, store_size size,
                              weir_error *error)
{
    weir_memory_options options = {.size_bytes = o->memory_bytes};
    if (o->url) {
        return store_open_apart(o->url, "replay", store, error);
    }
    if (o->memory_bytes == 0) {
        options.size_bytes = size.table_bytes + size.side_bytes;
        options.side_bytes = size.side_bytes;
        options.no_side = size.side_bytes == 0;
    }
    return weir_memory_open(store, &options, error);
}

typedef struct replay {
    const replay_options *options;
    input in;
    weir_policy *policy;
    tally counts;
    replay_totals totals;
    weir_counters store;
} replay;

// `may_grow`: stops when the store turns out to be too small.
static weir_status run_once(replay *r, store_size size, bool may_grow, weir_error *error)
{
    weir_store *store = NULL;
    tally_close(&r->counts);
    if (!tally_open(&r->counts)) {
        snprintf(error->message, sizeof error->message, "there is no memory for the statistics");
        return WEIR_NO_MEMORY;
    }
    const weir_limit *const *limits;
    const bool *shadow;
    size_t count = weir_policy_limits(r->policy, &limits, &shadow);
    for (size_t i = 0; i < count; i++) {
        tally_limit_index(&r->counts, limits[i], shadow[i]);
    }

    weir_status status = open_store(&store, r->options, size, error);
    if (status == WEIR_OK) {
        status = replay_run(&r->in, r->policy, store, may_grow, &r->counts, &r->totals,
                            progress_show, error);
    }
    if (status == WEIR_OK && !r->options->url) {
        weir_memory_counters(store, &r->store);
    }
    if (store && r->options->url) {
        store_apart_clear(store);
    }
    weir_store_close(store);
    return status;
}

static weir_status run_fitting(replay *r, weir_error *error)
{
    store_size size = first_size(r->policy);
    bool fixed = r->in.as_logged || r->options->memory_bytes > 0 || r->options->url;
    if (fixed && r->options->memory_bytes == 0) {
        size.table_bytes *= GROWTH * GROWTH; // it can't start over, so it starts large
        size.side_bytes *= GROWTH * GROWTH;
    }
    for (;;) {
        store_size next = {size.table_bytes * GROWTH, size.side_bytes * GROWTH};
        bool may_grow = !fixed && next.table_bytes + next.side_bytes <= most_bytes();
        weir_status status = run_once(r, size, may_grow, error);
        if (status != WEIR_OK) {
            return status;
        }
        if (r->in.disorder) {
            if (!input_gather(&r->in, progress_show)) {
                snprintf(error->message, sizeof error->message,
                         "there is no memory for the records; --as-logged needs none");
                return WEIR_NO_MEMORY;
            }
            continue;
        }
        bool short_of_room = r->store.evicted > 0 || r->totals.full > 0;
        if (!short_of_room || !may_grow) {
            return WEIR_OK;
        }
        size = next;
        input_rewind(&r->in);
    }
}

static bool conditions_hold(const replay *r)
{
    const fail_counts counts = {
        .requests = r->totals.requests,
        .allowed = r->totals.allowed,
        .refused = r->totals.refused,
        .failed = r->totals.failed + r->totals.responses_failed,
        .skipped = input_skipped(&r->in),
        .evicted = r->store.evicted,
    };
    bool held = false;
    for (size_t i = 0; i < r->options->condition_count; i++) {
        if (fail_if_holds(&r->options->conditions[i], &counts)) {
            complain("replay: fails, since %s", r->options->conditions[i].text);
            held = true;
        }
    }
    return held;
}

// Says which logs, or parts of logs, could not be read.
static bool complain_of_logs(const input *in)
{
    bool any = false;
    for (size_t i = 0; i < in->count; i++) {
        const log_file *file = &in->files[i];
        if (file->error[0]) {
            complain("replay: %s: %s", file->path, file->error);
            any = true;
        } else if (file->records == 0) {
            complain("replay: %s: no line of it is a record", file->path);
            any = true;
        }
    }
    return any;
}

static int finish(const replay *r)
{
    const replay_report report = {
        .policy = r->options->policy,
        .in = &r->in,
        .counts = &r->counts,
        .totals = &r->totals,
        .store = &r->store,
        .top = r->options->top,
    };
    bool unread = complain_of_logs(&r->in);
    if (r->options->json) {
        if (!report_print_json(&report)) {
            complain("replay: there is no memory for the report");
            return EXIT_MISUSE;
        }
    } else if (r->totals.requests > 0) {
        report_print(&report);
    }
    bool held = conditions_hold(r);
    if (unread) {
        return EXIT_MISUSE;
    }
    return held || r->totals.failed + r->totals.responses_failed > 0 ? EXIT_REFUSED : EXIT_FINE;
}

int command_replay(int argc, char **argv)
{
    replay_options options;
    int status = read_options(&options, argc, argv);
    if (status != EXIT_FINE) {
        return status == OPTIONS_HELP ? EXIT_FINE : status;
    }

    replay r = {.options = &options};
    weir_error error = {0};
    weir_policy_options policy_options = {.cut_fields = true};
    status = EXIT_MISUSE;
    if (weir_policy_open(&r.policy, options.policy, &policy_options, &error) != WEIR_OK) {
        complain("replay: %s", error.message);
    } else if (!input_open(&r.in, options.logs, options.log_count, options.time_name,
                           options.as_logged, progress_show)) {
        complain("replay: there is no memory for the logs");
    } else if (run_fitting(&r, &error) != WEIR_OK) {
        complain("replay: %s", error.message);
    } else {
        progress_end();
        status = finish(&r);
    }
    progress_end();
    tally_close(&r.counts);
    input_close(&r.in);
    weir_policy_close(r.policy);
    return status;
}
