// limit_words.h: a limit as words of a command line: token_bucket name=login rate=5/m burst=5.

#ifndef WEIR_TOOL_LIMIT_WORDS_H
#define WEIR_TOOL_LIMIT_WORDS_H

#include <stddef.h>

#include <weir/limit.h>

// What --help says of the words.
#define LIMIT_WORDS_HELP                                                                           \
    "A limit is its algorithm and its fields, named as in policies:\n"                             \
    "  token_bucket     name= rate= [burst=]          rate=5/m, or rate=5 period=1m\n"             \
    "  leaky_bucket     name= rate= [queue=]\n"                                                    \
    "  fixed_window     name= limit= window= [offset=]\n"                                          \
    "  sliding_log      name= limit= window= [count_denied=yes]\n"                                 \
    "  sliding_counter  name= limit= window= [slots=] [strict=yes]\n"                              \
    "  min_gap          name= gap= [count_denied=yes]\n"                                           \
    "  concurrency      name= limit= ttl=\n"

// Reads the algorithm and the field=value words that follow it; *used is how many words that were.
// WEIR_INVALID with a sentence.
weir_status limit_words_read(char *const *words, size_t count, weir_limit *out, size_t *used,
                             weir_error *error);

#endif
