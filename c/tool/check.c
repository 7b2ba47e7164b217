// weir check: decides one request on a fresh store, to see what a policy makes of it.

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/memory.h>
#include <weir/policy.h>

#include "command.h"
#include "decision.h"
#include "log/stamp.h"
#include "text.h"

#define OPTIONS(X)                                                                                 \
    X(TIME, "time", "TIME", "when: ISO 8601, seconds since 1970 or as web logs write it; now")     \
    X(JSON, "json", NULL, "the decision as JSON, for programs")

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

static const char details[] = "Decides one request as if nothing had been asked before. Exits with "
                              "0 when it is allowed, with\n"
                              "1 when it is refused.\n"
                              "\n"
                              "  weir check api.lua user=bob path=/search\n";

static void print_json(const weir_outcome *outcome)
{
    json_t *checks = json_array();
    for (size_t i = 0; i < outcome->count; i++) {
        json_t *row = decision_row_json(&outcome->checks[i], &outcome->rows[i]);
        json_object_set_new(row, "shadow", json_boolean(outcome->shadow[i]));
        json_array_append_new(checks, row);
    }
    json_t *whole = json_object();
    json_object_set_new(whole, "allowed", json_boolean(outcome->allowed));
    json_object_set_new(whole, "reason", outcome->reason ? json_string(outcome->reason) : NULL);
    json_object_set_new(whole, "binding",
                        outcome->binding ? json_string(outcome->binding->name) : NULL);
    json_object_set_new(whole, "decision",
                        outcome->binding ? decision_json(&outcome->decision) : NULL);
    json_object_set_new(whole, "checks", checks);
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
}

static void print_verdict(const weir_outcome *outcome)
{
    char reason[300];
    if (!outcome->reason && outcome->binding) {
        decision_print(outcome->binding->name, &outcome->decision);
        return;
    }
    printf("%s", outcome->allowed ? "allowed" : "refused");
    if (outcome->reason) {
        printf(" by the policy: %s",
               text_escape(outcome->reason, strlen(outcome->reason), reason, sizeof reason));
    } else if (!outcome->allowed) {
        printf(" by the policy");
    } else {
        printf(" without a limit");
    }
    putchar('\n');
}

static void print_table(const weir_outcome *outcome)
{
    if (outcome->count == 0) {
        return;
    }
    putchar('\n');
    table t;
    decision_table_open(&t);
    for (size_t i = 0; i < outcome->count; i++) {
        decision_table_row(&t, &outcome->checks[i], outcome->shadow[i], &outcome->rows[i]);
    }
    table_print(&t);
}

// Reads field=value words into fields. An empty value is nil, as a missing one is in a log.
static bool read_fields(char **words, size_t count, weir_field *fields)
{
    for (size_t i = 0; i < count; i++) {
        char *equals = strchr(words[i], '=');
        if (!equals || equals == words[i]) {
            complain("check: \"%s\" must be field=value, such as user=bob", words[i]);
            return false;
        }
        *equals = '\0';
        if (strcmp(words[i], "time") == 0) {
            complain("check: time is no field; give it with --time TIME");
            return false;
        }
        const char *value = equals + 1;
        fields[i] = (weir_field){
            .name = words[i], .text = value[0] ? value : NULL, .text_size = strlen(value)};
    }
    return true;
}

static int decide(const char *policy_path, const weir_request *request, bool json)
{
    weir_policy *policy = NULL;
    weir_runner *runner = NULL;
    weir_store *store = NULL;
    weir_error error = {0};
    weir_outcome outcome;
    int status = EXIT_MISUSE;
    if (weir_policy_open(&policy, policy_path, NULL, &error) == WEIR_OK &&
        weir_runner_open(&runner, policy, &error) == WEIR_OK &&
        weir_memory_open(&store, NULL, &error) == WEIR_OK &&
        weir_runner_decide(runner, store, request, &outcome, &error) == WEIR_OK) {
        status = outcome.allowed ? EXIT_FINE : EXIT_REFUSED;
        if (json) {
            print_json(&outcome);
        } else {
            print_verdict(&outcome);
            print_table(&outcome);
        }
    } else {
        complain("check: %s", error.message);
    }
    weir_store_close(store);
    weir_runner_close(runner);
    weir_policy_close(policy);
    return status;
}

int command_check(int argc, char **argv)
{
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    weir_request request = {0};
    bool json = false;
    const char *value;
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        stamp_reader stamps = {0};
        json |= code == OPTION_JSON;
        const char *wrong = code == OPTION_TIME
                                ? stamp_read(&stamps, value, strlen(value), &request.time_us)
                                : NULL;
        if (wrong) {
            complain("check: --time was \"%s\": %s", value, wrong);
            return EXIT_MISUSE;
        }
    }
    if (code == OPTIONS_HELP) {
        command_help("check", details, specs, SPECS);
        return EXIT_FINE;
    }
    if (code == OPTIONS_WRONG) {
        return EXIT_MISUSE;
    }
    if (reader.words == 0) {
        complain("check: a policy must be given; weir check --help says more");
        return EXIT_MISUSE;
    }
    size_t count = (size_t)reader.words - 1;
    weir_field *fields = calloc(count + 1, sizeof *fields);
    if (!fields) {
        complain("check: there is no memory for the fields");
        return EXIT_MISUSE;
    }
    request.fields = fields;
    request.count = count;
    int status =
        read_fields(argv + 2, count, fields) ? decide(argv[1], &request, json) : EXIT_MISUSE;
    free(fields);
    return status;
}
