// command.h: the commands of the tool, and what they share.

#ifndef WEIR_TOOL_COMMAND_H
#define WEIR_TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a command leaves to the shell.
enum { EXIT_FINE = 0, EXIT_REFUSED = 1, EXIT_MISUSE = 2 };

// One list makes the commands: each is int command_NAME(argc, argv) in a file of its own, with
// argv[0] the command's name.
#define COMMAND_LIST(X)                                                                            \
    X(replay, "POLICY LOG...", "what would this policy have refused?")                             \
    X(check, "POLICY field=value ...", "decide one request on a fresh store")                      \
    X(verify, "FILE...", "run vector files and compare every row")

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
