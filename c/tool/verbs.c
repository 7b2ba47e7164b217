// weir take, peek, refund, charge, acquire, renew, release, reset: one verb on one key of a store.

#include <stdio.h>

#include "command.h"
#include "decision.h"
#include "store/check_words.h"

typedef weir_status verb_function(weir_store *, const weir_check *, int64_t, weir_decision *,
                                  weir_error *);

typedef struct verb {
    verb_function *call;
    const char *done; // what is said when it is allowed; NULL: as of any decision
    const char *not_done;
    const char *does;
} verb;

static void print_json(const check_words *words, const weir_decision *d)
{
    static const char *const sources[] = {"store", "deny", "allow"};
    json_t *whole = decision_row_json(&words->check, d);
    json_object_set_new(whole, "source", json_string(sources[d->source]));
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
}

static void print_table(const check_words *words, const verb *v, const weir_decision *d)
{
    if (v->done) {
        puts(d->allowed ? v->done : v->not_done);
    } else {
        decision_print(words->limit.name, d);
    }
    putchar('\n');
    table t;
    decision_table_open(&t);
    decision_table_row(&t, &words->check, false, d);
    table_print(&t);
}

static int run_verb(int argc, char **argv, const verb *v)
{
    check_words words;
    int status = check_words_read(&words, argc, argv, true, v->does);
    if (status != EXIT_FINE) {
        return status == OPTIONS_HELP ? EXIT_FINE : status;
    }
    weir_decision decision;
    weir_error error = {0};
    if (v->call(words.store, &words.check, words.now_us, &decision, &error) != WEIR_OK) {
        complain("%s: %s", argv[0], error.message);
        status = EXIT_MISUSE;
    } else {
        if (decision.source != WEIR_SOURCE_STORE) {
            complain("%s: decided by on_error, since %s", argv[0], error.message);
        }
        if (words.json) {
            print_json(&words, &decision);
        } else {
            print_table(&words, v, &decision);
        }
        status = decision.allowed ? EXIT_FINE : EXIT_REFUSED;
    }
    weir_store_close(words.store);
    return status;
}

int command_take(int argc, char **argv)
{
    static const verb v = {.call = weir_store_take,
                           .does = "Decides, and records what passes. Exits with 0 when it is "
                                   "allowed, with 1 when it is refused.\n\n"
                                   "  weir take token_bucket name=login rate=5/m bob 2"};
    return run_verb(argc, argv, &v);
}

int command_peek(int argc, char **argv)
{
    static const verb v = {.call = weir_store_peek,
                           .does =
                               "Says what take would, and records nothing. Exits as take does."};
    return run_verb(argc, argv, &v);
}

int command_refund(int argc, char **argv)
{
    static const verb v = {.call = weir_store_refund,
                           .done = "refunded",
                           .does = "Gives a cost back that was just taken."};
    return run_verb(argc, argv, &v);
}

int command_charge(int argc, char **argv)
{
    static const verb v = {.call = weir_store_charge,
                           .done = "charged",
                           .does = "Records a cost that has been spent already; never refused."};
    return run_verb(argc, argv, &v);
}

int command_acquire(int argc, char **argv)
{
    static const verb v = {.call = weir_store_acquire,
                           .does = "Takes a place for the id, or renews the one that it holds. "
                                   "Exits with 1 when all are held.\n\n"
                                   "  weir acquire concurrency name=jobs limit=4 ttl=1m "
                                   "queue-7 job-31"};
    return run_verb(argc, argv, &v);
}

int command_renew(int argc, char **argv)
{
    static const verb v = {.call = weir_store_renew,
                           .done = "renewed",
                           .not_done = "not held",
                           .does = "Holds the id's place for another ttl. Exits with 1 when it was "
                                   "not held: one that has lapsed stays lost."};
    return run_verb(argc, argv, &v);
}

int command_release(int argc, char **argv)
{
    static const verb v = {.call = weir_store_release,
                           .done = "released",
                           .not_done = "not held",
                           .does = "Gives the id's place back. Exits with 1 when it was not held."};
    return run_verb(argc, argv, &v);
}

int command_reset(int argc, char **argv)
{
    check_words words;
    int status = check_words_read(&words, argc, argv, false,
                                  "Forgets what is recorded for the key. Nothing there is fine.");
    if (status != EXIT_FINE) {
        return status == OPTIONS_HELP ? EXIT_FINE : status;
    }
    weir_error error = {0};
    if (weir_store_reset(words.store, &words.check, &error) != WEIR_OK) {
        complain("%s: %s", argv[0], error.message);
        status = EXIT_MISUSE;
    } else {
        puts(words.json ? "{}" : "forgotten");
    }
    weir_store_close(words.store);
    return status;
}
