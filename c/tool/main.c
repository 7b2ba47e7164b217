// weir: the command line tool. The first word names the command.

#include <stdio.h>
#include <string.h>

#include <weir/status.h>

#include "command.h"

static void print_help(FILE *to)
{
    fprintf(to, "weir: a rate limiter. Tries policies on logs, and limits on stores.\n\n");
    for (size_t i = 0; i < command_count; i++) {
        char left[64];
        snprintf(left, sizeof left, "weir %s %s", commands[i].name, commands[i].arguments);
        fprintf(to, "  %-50s %s\n", left, commands[i].summary);
    }
    fprintf(to, "\nweir COMMAND --help says more; weir --version names the version.\n"
                "Exit status: 0 fine, 1 refused or a failed check, 2 misuse or unreadable.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_MISUSE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return EXIT_FINE;
    }
    if (strcmp(name, "--version") == 0) {
        printf("weir %s\n", weir_version());
        return EXIT_FINE;
    }
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) != 0) {
            continue;
        }
        int status = commands[i].run(argc - 1, argv + 1);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            complain("the output could not be written");
            return EXIT_MISUSE;
        }
        return status;
    }
    complain("there is no command %s; weir --help lists them", name);
    return EXIT_MISUSE;
}
