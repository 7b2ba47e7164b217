// open.h: a store by its URL.

#ifndef WEIR_TOOL_STORE_OPEN_H
#define WEIR_TOOL_STORE_OPEN_H

#include <stdbool.h>

#include <weir/store.h>

// What --help says of the URL.
#define STORE_URL_HELP                                                                             \
    "A URL is redis://[[user:]password@]host[:port][/db][?deadline=5s&cluster=yes] or\n"           \
    "redis+unix:///path/of/socket. Where none is given WEIR_STORE of the environment is it, "      \
    "which\n"                                                                                      \
    "keeps a password off the list of processes.\n"

// What --help adds where memory that processes share will do as well.
#define STORE_MAPPING_HELP                                                                         \
    "Or it is shm:NAME, or file:PATH, for memory that processes share; it must be there.\n"

// Opens the server at the URL, or when that is NULL at WEIR_STORE. People wait longer than
// programs: where the URL says no deadline it is five seconds. WEIR_INVALID with a sentence.
weir_status store_open(const char *url, weir_store **out, weir_error *error);

// The same, or a mapping that is there (mapping.h).
weir_status store_open_any(const char *url, weir_store **out, weir_error *error);

// As store_open, for a run of its own, whose keys meet no others (apart.h). The server is asked
// once, so one that can't be is an error here, and a URL that lets something stand in for it is
// refused.
weir_status store_open_apart(const char *url, const char *purpose, weir_store **out,
                             weir_error *error);

// Whether a verb failed because the server gives no answers, so that to go on asking is in vain.
bool store_is_away(weir_status status);

#endif
