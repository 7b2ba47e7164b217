// weir scripts: lists the Redis scripts, prints one, or loads all into a server.

#include <hiredis.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "store/open.h"
#include "store/redis/ask.h"
#include "weir_scripts.h"

#define OPTIONS(X) X(JSON, "json", NULL, "the list as JSON, for programs")

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
    "The scripts that decide inside a Redis server, for anyone to call with EVALSHA.\n"
    "\n"
    "  weir scripts                 what each is called with, and the commands its user must have\n"
    "  weir scripts print NAME      its text, as it is loaded\n"
    "  weir scripts load [URL]      loads all of them, and prints their digests\n"
    "\n" STORE_URL_HELP;

static int list(void)
{
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        const weir_script *s = &weir_scripts[i];
        printf("%s%s\n  SHA1      %s\n  KEYS      %s\n  ARGV      %s\n  Reply     %s\n"
               "  Commands  %s\n",
               i > 0 ? "\n" : "", s->name, s->sha1, s->keys, s->argv, s->reply, s->commands);
    }
    return EXIT_FINE;
}

static int list_json(void)
{
    json_t *all = json_array();
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        const weir_script *s = &weir_scripts[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", s->name,
                                             "sha1", s->sha1, "keys", s->keys, "argv", s->argv,
                                             "reply", s->reply, "commands", s->commands));
    }
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
    return EXIT_FINE;
}

static int print(const char *name)
{
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT; i++) {
        if (strcmp(weir_scripts[i].name, name) == 0) {
            fwrite(weir_scripts[i].body, 1, weir_scripts[i].size, stdout);
            return EXIT_FINE;
        }
    }
    complain("scripts: there is no script %s; weir scripts lists them", name);
    return EXIT_MISUSE;
}

// Whether the server keeps the script under the digest that clients will ask for.
static bool load_one(weir_store *store, const weir_script *script)
{
    const weir_word words[] = {{"SCRIPT", 6}, {"LOAD", 4}, {script->body, script->size}};
    redisReply *reply;
    weir_error error = {0};
    if (weir_redis_ask(store, words, 3, &reply, &error) != WEIR_OK) {
        complain("scripts: %s", error.message);
        return false;
    }
    bool same = reply->type == REDIS_REPLY_STRING && strcmp(reply->str, script->sha1) == 0;
    freeReplyObject(reply);
    if (!same) {
        complain("scripts: the server at %s gave %s another digest than its SHA1, so what it keeps "
                 "is not this script",
                 weir_redis_settings(store)->address, script->name);
        return false;
    }
    printf("%s  %s\n", script->sha1, script->name);
    return true;
}

static int load(const char *url)
{
    weir_store *store;
    weir_error error = {0};
    if (store_open(url, &store, &error) != WEIR_OK) {
        complain("scripts: %s", error.message);
        return EXIT_MISUSE;
    }
    bool loaded = true;
    for (size_t i = 0; i < WEIR_SCRIPT_COUNT && loaded; i++) {
        loaded = load_one(store, &weir_scripts[i]);
    }
    weir_store_close(store);
    return loaded ? EXIT_FINE : EXIT_MISUSE;
}

int command_scripts(int argc, char **argv)
{
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    bool json = false;
    const char *value;
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        json |= code == OPTION_JSON;
    }
    if (code == OPTIONS_HELP) {
        command_help("scripts", details, specs, SPECS);
        return EXIT_FINE;
    }
    if (code == OPTIONS_WRONG) {
        return EXIT_MISUSE;
    }
    if (reader.words == 0) {
        return json ? list_json() : list();
    }
    if (strcmp(argv[1], "print") == 0 && reader.words == 2) {
        return print(argv[2]);
    }
    if (strcmp(argv[1], "load") == 0 && reader.words <= 2) {
        return load(reader.words == 2 ? argv[2] : NULL);
    }
    complain("scripts: what is wanted is no word, print NAME or load [URL]; weir scripts --help "
             "says more");
    return EXIT_MISUSE;
}
