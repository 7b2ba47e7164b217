// weir doctor: whether a Redis server is fit to keep limits, and what to do when it is not.

#include <string.h>

#include "command.h"
#include "doctor/audit.h"
#include "store/open.h"
#include "store/redis/ask.h"

#define WORDS_MAX 8

#define OPTIONS(X) X(JSON, "json", NULL, "the findings as JSON, for programs")

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
    "Asks the server for its version, memory, role and clock, for the rights of this user, and\n"
    "takes from a limit of each kind, on keys of its own. Says of each finding what to do. Exits\n"
    "with 0 when it is fit, with 1 when something must be mended, with 2 when it can't be asked.\n"
    "\n" STORE_URL_HELP;

weir_status audit_ask(weir_store *store, const char *text, redisReply **out, weir_error *error)
{
    weir_word words[WORDS_MAX];
    size_t count = 0;
    for (const char *at = text; *at && count < WORDS_MAX; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        words[count++] = (weir_word){at, size};
        at += size;
    }
    return weir_redis_ask(store, words, count, out, error);
}

// Whether the server can be asked at all: that this user may not is an answer.
static bool answers(weir_store *store, weir_error *error)
{
    redisReply *reply;
    weir_status status = audit_ask(store, "PING", &reply, error);
    if (status == WEIR_OK) {
        freeReplyObject(reply);
    }
    return status == WEIR_OK || status == WEIR_NOT_PERMITTED;
}

static int audit(weir_store *store, bool json)
{
    weir_error error = {0};
    if (!answers(store, &error)) {
        complain("doctor: %s", error.message);
        return EXIT_MISUSE;
    }
    findings all = {0};
    audit_info(store, &all);
    audit_rights(store, &all);
    audit_time(store, &all);
    const char *address = weir_redis_settings(store)->address;
    if (json) {
        findings_print_json(&all, address);
    } else {
        findings_print(&all, address);
    }
    return all.mend > 0 ? EXIT_REFUSED : EXIT_FINE;
}

int command_doctor(int argc, char **argv)
{
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    bool json = false;
    const char *value;
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        json |= code == OPTION_JSON;
    }
    if (code == OPTIONS_HELP) {
        command_help("doctor", details, specs, SPECS);
        return EXIT_FINE;
    }
    if (code == OPTIONS_WRONG) {
        return EXIT_MISUSE;
    }
    if (reader.words > 1) {
        complain("doctor: one URL is wanted; weir doctor --help says more");
        return EXIT_MISUSE;
    }
    weir_store *store;
    weir_error error = {0};
    if (store_open(reader.words == 1 ? argv[1] : NULL, &store, &error) != WEIR_OK) {
        complain("doctor: %s", error.message);
        return EXIT_MISUSE;
    }
    int status = audit(store, json);
    weir_store_close(store);
    return status;
}
