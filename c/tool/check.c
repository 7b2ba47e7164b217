// weir check: decides one request on a fresh store, to see what a policy makes of it.

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weir/duration.h>
#include <weir/memory.h>
#include <weir/policy.h>

#include "command.h"
#include "log/stamp.h"
#include "table.h"
#include "text.h"

#define KEY_WIDTH 48

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

static json_t *decision_json(const weir_decision *d)
{
    return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I}", "allowed", d->allowed, "limit",
                     (json_int_t)d->limit, "remaining", (json_int_t)d->remaining, "retry_after_us",
                     (json_int_t)d->retry_after_us, "reset_after_us", (json_int_t)d->reset_after_us,
                     "delay_us", (json_int_t)d->delay_us);
}

static json_t *key_json(const weir_check *check)
{
    char *text = malloc(4 * check->key_size + 1);
    json_t *key =
        text ? json_string(text_escape(check->key, check->key_size, text, 4 * check->key_size + 1))
             : json_null();
    free(text);
    return key;
}

static void print_json(const weir_outcome *outcome)
{
    json_t *checks = json_array();
    for (size_t i = 0; i < outcome->count; i++) {
        const weir_check *check = &outcome->checks[i];
        json_t *row = decision_json(&outcome->rows[i]);
        json_object_set_new(row, "name", json_string(check->limit->name));
        json_object_set_new(row, "algorithm",
                            json_string(weir_algorithm_name(check->limit->algorithm)));
        json_object_set_new(row, "key", key_json(check));
        json_object_set_new(row, "cost", json_integer(check->cost));
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
    char text[WEIR_DURATION_TEXT], reason[300];
    printf("%s", outcome->allowed ? "allowed" : "refused");
    if (outcome->reason) {
        printf(" by the policy: %s",
               text_escape(outcome->reason, strlen(outcome->reason), reason, sizeof reason));
    } else if (!outcome->allowed && !outcome->binding) {
        printf(" by the policy");
    } else if (!outcome->allowed && outcome->decision.retry_after_us == WEIR_NEVER) {
        printf(" by %s, however long one waits", outcome->binding->name);
    } else if (!outcome->allowed) {
        printf(" by %s; try again in %s", outcome->binding->name,
               weir_duration_format(outcome->decision.retry_after_us, text));
    } else if (!outcome->binding) {
        printf(" without a limit");
    } else if (outcome->decision.delay_us > 0) {
        printf(", after a wait of %s", weir_duration_format(outcome->decision.delay_us, text));
    }
    putchar('\n');
}

static void add_number(table *t, int64_t number)
{
    char text[TEXT_COUNT];
    table_cell(t, number < 0 ? "-" : text_count((uint64_t)number, text));
}

static void add_duration(table *t, int64_t duration_us)
{
    char text[WEIR_DURATION_TEXT];
    table_cell(t, duration_us == WEIR_NEVER ? "never" : weir_duration_format(duration_us, text));
}

static void print_table(const weir_outcome *outcome)
{
    static const char *const names[] = {"limit",       "algorithm", "key",       "cost",
                                        "verdict",     "of",        "remaining", "retry after",
                                        "reset after", "delay"};
    if (outcome->count == 0) {
        return;
    }
    putchar('\n');
    table t;
    table_open(&t, "lllrlrrrrr");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        table_cell(&t, names[i]);
    }
    for (size_t i = 0; i < outcome->count; i++) {
        const weir_check *check = &outcome->checks[i];
        const weir_decision *row = &outcome->rows[i];
        char name[WEIR_NAME_MAX + 16], key[KEY_WIDTH];
        snprintf(name, sizeof name, "%s%s", check->limit->name,
                 outcome->shadow[i] ? " (shadow)" : "");
        table_cell(&t, name);
        table_cell(&t, weir_algorithm_name(check->limit->algorithm));
        table_cell(&t, text_escape(check->key, check->key_size, key, sizeof key));
        add_number(&t, check->limit->algorithm == WEIR_CONCURRENCY ? 1 : check->cost);
        table_cell(&t, row->allowed ? "allowed" : "refused");
        add_number(&t, row->limit);
        add_number(&t, row->remaining);
        add_duration(&t, row->retry_after_us);
        add_duration(&t, row->reset_after_us);
        add_duration(&t, row->delay_us);
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
