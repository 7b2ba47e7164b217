// command: reads options alike for all commands, and writes their help.

#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const command commands[] = {
#define COMMAND_ENTRY(name, arguments, summary) {#name, arguments, summary, command_##name},
    COMMAND_LIST(COMMAND_ENTRY)
#undef COMMAND_ENTRY
};
const size_t command_count = sizeof commands / sizeof *commands;

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("weir: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static int find_option(const option_reader *reader, const char *name, size_t size)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (strlen(reader->specs[i].name) == size &&
            memcmp(reader->specs[i].name, name, size) == 0) {
            return (int)i;
        }
    }
    return OPTIONS_WRONG;
}

static int read_option(option_reader *reader, const char *text, const char **value)
{
    const char *equals = strchr(text, '=');
    size_t size = equals ? (size_t)(equals - text) : strlen(text);
    int found = find_option(reader, text + 2, size - 2);
    const char *name = reader->argv[0];
    if (found < 0) {
        complain("%s: there is no option %.*s; weir %s --help lists them", name, (int)size, text,
                 name);
        return OPTIONS_WRONG;
    }
    bool wants = reader->specs[found].argument != NULL;
    if (!wants && equals) {
        complain("%s: %.*s takes no value", name, (int)size, text);
        return OPTIONS_WRONG;
    }
    *value = NULL;
    if (wants && equals) {
        *value = equals + 1;
    } else if (wants && reader->at + 1 < reader->argc) {
        *value = reader->argv[++reader->at];
    }
    if (wants && !*value) {
        complain("%s: %s wants a value, %s", name, text, reader->specs[found].argument);
        return OPTIONS_WRONG;
    }
    return found;
}

int options_next(option_reader *reader, const char **value)
{
    while (++reader->at < reader->argc) {
        char *text = reader->argv[reader->at];
        if (reader->ended || text[0] != '-' || text[1] == '\0') {
            reader->argv[++reader->words] = text;
        } else if (strcmp(text, "--") == 0) {
            reader->ended = true;
        } else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            return OPTIONS_HELP;
        } else if (text[1] != '-') {
            complain("%s: there is no option %s; options are written in full, as --help",
                     reader->argv[0], text);
            return OPTIONS_WRONG;
        } else {
            return read_option(reader, text, value);
        }
    }
    return OPTIONS_DONE;
}

void command_help(const char *name, const char *details, const option_spec *specs, size_t count)
{
    for (size_t i = 0; i < command_count; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            printf("weir %s %s: %s\n\n", name, commands[i].arguments, commands[i].summary);
        }
    }
    printf("%s\n", details);
    if (count > 0) {
        printf("Options\n");
    }
    for (size_t i = 0; i < count; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", specs[i].name, specs[i].argument ? " " : "",
                 specs[i].argument ? specs[i].argument : "");
        printf("  %-20s %s\n", left, specs[i].help);
    }
}
