// check_words.h: a check on a store, as the commands for one key read it.

#ifndef WEIR_TOOL_CHECK_WORDS_H
#define WEIR_TOOL_CHECK_WORDS_H

#include <weir/store.h>

#include "command.h"

typedef struct check_words {
    weir_limit limit;
    weir_check check;
    int64_t now_us; // 0: the server's clock
    bool json;
    weir_store *store; // open; the caller closes it
} check_words;

// Reads ALGORITHM field=value... KEY [COST or ID] with the options that these commands share, and
// opens the store. `takes_cost`: a cost or id may follow the key. EXIT_FINE to go on, OPTIONS_HELP
// after help, or EXIT_MISUSE after saying what is wrong.
int check_words_read(check_words *out, int argc, char **argv, bool takes_cost, const char *does);

#endif
