// weir shared: whether a mapping that processes share is sound, and its removal.
//
// A mapping may be damaged in ways that nobody can foresee: a lock that seems to be held by a
// process that never lived is waited for, for ever. So a child reads it, under a deadline, and
// whatever becomes of the child is an answer.

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/duration.h>
#include <weir/memory.h>
#include <weir/shared.h>

#include "command.h"
#include "store/mapping.h"
#include "table.h"
#include "text.h"

#define DEADLINE_US WEIR_MINUTE

#define OPTIONS(X)                                                                                 \
    X(DEADLINE, "deadline", "TIME", "how long a check may take; 1m")                               \
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
    "Limits in memory that processes share. Neither command makes any, and others go on "
    "meanwhile.\n"
    "\n"
    "  weir shared check api             reads all of it: is every key where it is looked for?\n"
    "  weir shared remove /run/limits    removes it; who has it open keeps it\n"
    "\n"
    "A word with a slash beyond a first one, or that is a file, is a path; any other is a name in\n"
    "POSIX shared memory. shm:NAME and file:PATH say which. Run it as the user who owns it. Check\n"
    "exits with 0 when it is sound, with 1 and the fault when it is not.\n";

// What the child found.
typedef struct finding {
    weir_status opened, checked;
    weir_error error;
    weir_shared_report report;
    weir_counters counters;
} finding;

static finding find(const mapping *m)
{
    finding f = {0};
    weir_store *store;
    f.opened = mapping_open(m, &store, &f.error);
    if (f.opened != WEIR_OK) {
        return f;
    }
    f.checked = weir_shared_check(store, &f.report, &f.error);
    if (f.checked == WEIR_OK) {
        f.checked = weir_memory_counters(store, &f.counters);
    }
    weir_store_close(store);
    return f;
}

static void be_the_child(const mapping *m, int64_t deadline_us, int out)
{
    const struct itimerval once = {
        .it_value = {deadline_us / WEIR_SECOND, deadline_us % WEIR_SECOND}};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGALRM, SIG_DFL);
    setitimer(ITIMER_REAL, &once, NULL);
    const finding f = find(m);
    const bool told = write(out, &f, sizeof f) == (ssize_t)sizeof f; // less than a pipe holds
    _exit(told ? 0 : 1);
}

// What it means that the child ended with no answer.
static void read_end(int how, int64_t deadline_us, finding *out)
{
    char text[WEIR_DURATION_TEXT];
    *out = (finding){.checked = WEIR_STATE};
    char *message = out->error.message;
    const size_t size = sizeof out->error.message;
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM) {
        snprintf(message, size,
                 "it could not be read within %s: who holds a lock of it stands still, or the lock "
                 "is damaged",
                 weir_duration_format(deadline_us, text));
    } else if (WIFSIGNALED(how)) {
        snprintf(message, size, "it is damaged so that reading it ends with signal %d (%s)",
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    } else {
        snprintf(message, size, "it is damaged so that it can't be read");
    }
}

// False when there could be no child; it has been said.
static bool find_in_child(const mapping *m, int64_t deadline_us, finding *out)
{
    int ends[2], how = 0;
    if (pipe(ends) != 0) {
        complain("shared: there are no files left to check with");
        return false;
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_the_child(m, deadline_us, ends[1]);
    }
    close(ends[1]);
    const ssize_t got = child > 0 ? read(ends[0], out, sizeof *out) : 0;
    close(ends[0]);
    if (child < 0 || waitpid(child, &how, 0) != child) {
        complain("shared: there could be no process to check with");
        return false;
    }
    if (got != (ssize_t)sizeof *out) {
        read_end(how, deadline_us, out);
    }
    return true;
}

static void print_json(const finding *f)
{
    const bool sound = f->checked == WEIR_OK;
    json_t *whole = json_pack("{s:b}", "sound", sound);
    if (sound) {
        const weir_shared_report *r = &f->report;
        const weir_counters *c = &f->counters;
        json_object_update_new(
            whole,
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I}", "keys",
                      (json_int_t)r->keys, "size_bytes", (json_int_t)c->size_bytes, "blocks",
                      (json_int_t)r->blocks, "side_bytes", (json_int_t)r->side_bytes, "free_bytes",
                      (json_int_t)r->free_bytes, "deaths", (json_int_t)r->deaths, "settled",
                      r->settled, "allowed", (json_int_t)c->allowed, "refused",
                      (json_int_t)c->refused, "evicted", (json_int_t)c->evicted));
    } else {
        json_object_set_new(whole, "fault", json_string(f->error.message));
    }
    json_dumpf(whole, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(whole);
}

static void print_report(const char *word, const finding *f)
{
    const weir_shared_report *r = &f->report;
    const weir_counters *c = &f->counters;
    const struct {
        const char *what;
        uint64_t count;
        const char *means;
    } rows[] = {
        {"keys", r->keys, "in the table, those that have expired among them"},
        {"evicted", c->evicted, "live keys forgotten for want of room"},
        {"allowed", c->allowed, "checks that passed"},
        {"refused", c->refused, "checks that were refused"},
        {"size", c->size_bytes, "bytes"},
        {"side", r->side_bytes, "bytes of which for logs, slots and leases"},
        {"free", r->free_bytes, "bytes of which are free"},
        {"blocks", r->blocks, "of side memory that keys have"},
        {"deaths", r->deaths, "holders of a lock that died and whose work was put back"},
    };
    printf("%s is sound%s\n\n", word,
           r->settled ? "" : ", but side memory changed all the while and was not accounted for");
    table t;
    table_open(&t, "lrl");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char count[TEXT_COUNT];
        table_cell(&t, rows[i].what);
        table_cell(&t, text_count(rows[i].count, count));
        table_cell(&t, rows[i].means);
    }
    table_print(&t);
}

static int check(const char *word, int64_t deadline_us, bool json)
{
    const mapping m = mapping_of_word(word);
    finding f;
    if (!find_in_child(&m, deadline_us, &f)) {
        return EXIT_MISUSE;
    }
    const bool told = f.checked == WEIR_OK || f.checked == WEIR_STATE;
    if (f.opened != WEIR_OK || !told) {
        complain("shared: %s", f.error.message);
        return EXIT_MISUSE;
    }
    if (json) {
        print_json(&f);
    } else if (f.checked == WEIR_OK) {
        print_report(word, &f);
    } else {
        printf("%s is not sound: %s\n", word, f.error.message);
    }
    return f.checked == WEIR_OK ? EXIT_FINE : EXIT_REFUSED;
}

static int remove_mapping(const char *word, bool json)
{
    const mapping m = mapping_of_word(word);
    weir_error error = {0};
    bool found;
    if (mapping_remove(&m, &found, &error) != WEIR_OK) {
        complain("shared: %s", error.message);
        return EXIT_MISUSE;
    }
    if (json) {
        printf("{\"removed\": %s}\n", found ? "true" : "false");
    } else {
        puts(found ? "removed" : "there was none");
    }
    return EXIT_FINE;
}

int command_shared(int argc, char **argv)
{
    option_reader reader = {.argc = argc, .argv = argv, .specs = specs, .count = SPECS};
    int64_t deadline_us = DEADLINE_US;
    bool json = false;
    const char *value;
    int code;
    while ((code = options_next(&reader, &value)) >= 0) {
        weir_error error = {0};
        json |= code == OPTION_JSON;
        if (code == OPTION_DEADLINE &&
            weir_duration_parse(value, "--deadline", &deadline_us, &error) != WEIR_OK) {
            complain("shared: %s", error.message);
            return EXIT_MISUSE;
        }
    }
    if (code == OPTIONS_HELP) {
        command_help("shared", details, specs, SPECS);
        return EXIT_FINE;
    }
    if (code == OPTIONS_WRONG) {
        return EXIT_MISUSE;
    }
    const char *what = reader.words > 0 ? argv[1] : "";
    const bool checks = strcmp(what, "check") == 0;
    if (!checks && strcmp(what, "remove") != 0) {
        complain("shared: \"%s\" is neither check nor remove; weir shared --help says more", what);
        return EXIT_MISUSE;
    }
    if (reader.words != 2) {
        complain("shared: one name or path must be given after %s, such as /api", what);
        return EXIT_MISUSE;
    }
    return checks ? check(argv[2], deadline_us, json) : remove_mapping(argv[2], json);
}
