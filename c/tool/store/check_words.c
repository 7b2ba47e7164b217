// check_words: options and words to a check.

#include "store/check_words.h"

#include <stdio.h>
#include <string.h>

#include "log/stamp.h"
#include "store/limit_words.h"
#include "store/open.h"
#include "text.h"

#define OPTIONS(X)                                                                                 \
    X(STORE, "store", "URL", "where the limit is kept; else WEIR_STORE of the environment")        \
    X(KEY, "key", "KEY", "the key, in place of the word, when it holds \"=\"")                     \
    X(TAG, "tag", "TAG", "what places the key in a cluster, and is part of its name; the key")     \
    X(TIME, "time", "TIME", "now, as weir check takes it; the server's clock")                     \
    X(JSON, "json", NULL, "the answer as JSON, for programs")

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

typedef struct given {
    const char *url, *key;
} given;

static bool take_option(check_words *out, given *g, const char *name, int code, const char *value)
{
    stamp_reader stamps = {0};
    const char *wrong;
    switch (code) {
    case OPTION_STORE:
        g->url = value;
        return true;
    case OPTION_KEY:
        g->key = value;
        return true;
    case OPTION_TAG:
        out->check.tag = value;
        out->check.tag_size = strlen(value);
        return true;
    case OPTION_TIME:
        wrong = stamp_read(&stamps, value, strlen(value), &out->now_us);
        if (wrong) {
            complain("%s: --time was \"%s\": %s", name, value, wrong);
        }
        return wrong == NULL;
    default:
        out->json = true;
        return true;
    }
}

static bool read_cost(check_words *out, const char *name, const char *word)
{
    if (out->limit.algorithm == WEIR_CONCURRENCY) {
        out->check.id = word;
        out->check.id_size = strlen(word);
        return true;
    }
    uint64_t cost;
    if (!text_whole_parse(word, WEIR_COST_MAX, &cost)) {
        complain("%s: the cost was \"%s\"; it must be a whole number from 0 to 2^43", name, word);
        return false;
    }
    out->check.cost = (int64_t)cost;
    return true;
}

static bool read_words(check_words *out, const given *g, const char *name, char **words,
                       size_t count, bool takes_cost)
{
    weir_error error = {0};
    size_t at = 0;
    if (limit_words_read(words, count, &out->limit, &at, &error) != WEIR_OK) {
        complain("%s: %s", name, error.message);
        return false;
    }
    const char *key = g->key ? g->key : at < count ? words[at++] : NULL;
    if (!key) {
        complain("%s: a key must be given after the limit, such as bob", name);
        return false;
    }
    out->check.limit = &out->limit;
    out->check.key = key;
    out->check.key_size = strlen(key);
    out->check.cost = 1;
    if (takes_cost && at < count && !read_cost(out, name, words[at++])) {
        return false;
    }
    if (at < count) {
        complain("%s: \"%s\" is a word too many; fields of the limit stand before the key", name,
                 words[at]);
        return false;
    }
    return true;
}

int check_words_read(check_words *out, int argc, char **argv, bool takes_cost, const char *does)
{
    *out = (check_words){0};
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    const char *name = argv[0], *value;
    given g = {0};
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        if (!take_option(out, &g, name, code, value)) {
            return EXIT_MISUSE;
        }
    }
    if (code == OPTIONS_HELP) {
        char details[3000];
        snprintf(details, sizeof details, "%s\n\n%s\n%s", does, LIMIT_WORDS_HELP,
                 STORE_URL_HELP STORE_MAPPING_HELP);
        command_help(name, details, specs, SPECS);
        return OPTIONS_HELP;
    }
    weir_error error = {0};
    if (code == OPTIONS_WRONG ||
        !read_words(out, &g, name, argv + 1, (size_t)reader.words, takes_cost)) {
        return EXIT_MISUSE;
    }
    if (store_open_any(g.url, &out->store, &error) != WEIR_OK) {
        complain("%s: %s", name, error.message);
        return EXIT_MISUSE;
    }
    return EXIT_FINE;
}
