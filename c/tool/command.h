// command.h: the commands of the tool, and what they share.

#ifndef WEIR_TOOL_COMMAND_H
#define WEIR_TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a command leaves to the shell.
enum { EXIT_FINE = 0, EXIT_REFUSED = 1, EXIT_MISUSE = 2 };

#define LIMIT_AND_KEY "ALGORITHM field=value ... KEY"

// One list makes the commands: each is int command_NAME(argc, argv) in a file of its own, with
// argv[0] the command's name.
#define COMMAND_LIST(X)                                                                            \
    X(replay, "POLICY LOG...", "what would this policy have refused?")                             \
    X(check, "POLICY field=value ...", "decide one request on a fresh store")                      \
    X(verify, "FILE...", "run vector files and compare every row")                                 \
    X(take, LIMIT_AND_KEY " [COST]", "decide on one key of a store, and record it")                \
    X(peek, LIMIT_AND_KEY " [COST]", "what would take say?")                                       \
    X(refund, LIMIT_AND_KEY " [COST]", "give back what was just taken")                            \
    X(charge, LIMIT_AND_KEY " [COST]", "record what has been spent already")                       \
    X(acquire, LIMIT_AND_KEY " ID", "take a place of a concurrency limit")                         \
    X(renew, LIMIT_AND_KEY " ID", "hold the place longer")                                         \
    X(release, LIMIT_AND_KEY " ID", "give the place back")                                         \
    X(reset, LIMIT_AND_KEY, "forget one key of a store")                                           \
    X(inspect, LIMIT_AND_KEY " [COST]", "what the server keeps for the key")                       \
    X(scripts, "[print NAME | load [URL]]", "the scripts that decide inside a Redis server")       \
    X(shared, "check|remove NAME|PATH", "is this shared memory sound?")                            \
    X(doctor, "[URL]", "is this Redis fit to keep limits?")

#define COMMAND_DECLARE(name, arguments, summary) int command_##name(int argc, char **argv);
COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

typedef struct command {
    const char *name;
    const char *arguments;
    const char *summary;
    int (*run)(int argc, char **argv);
} command;

extern const command commands[];
extern const size_t command_count;

// Says a sentence on the standard error, after "weir: ".
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// An option of a command. `argument` is what --help calls its value, NULL when it takes none.
typedef struct option_spec {
    const char *name;
    const char *argument;
    const char *help;
} option_spec;

// Reads options wherever they stand among the words; "--" ends them. Every command also has --help.
typedef struct option_reader {
    int argc;
    char **argv;
    const option_spec *specs;
    size_t count;
    int at;
    bool ended;
    int words; // how many words were moved to argv[1] and on
} option_reader;

enum { OPTIONS_DONE = -1, OPTIONS_WRONG = -2, OPTIONS_HELP = -3 };

// The index in specs of the next option, its value in *value; or one of the codes above. What is
// wrong has been said. When done, the words are argv[1] to argv[words].
int options_next(option_reader *reader, const char **value);

// "weir NAME ...", what it does, its options and exit status, on the standard output.
void command_help(const char *name, const char *details, const option_spec *specs, size_t count);

#endif
