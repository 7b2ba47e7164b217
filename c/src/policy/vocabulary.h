// The vocabulary, as text inside the library. The build makes it of the files in lua/weir.

#ifndef WEIR_POLICY_VOCABULARY_H
#define WEIR_POLICY_VOCABULARY_H

#include <stddef.h>

typedef struct vocabulary_file {
    const char *name; // as require knows it
    const char *text;
    size_t size;
} vocabulary_file;

extern const vocabulary_file vocabulary_address;
extern const vocabulary_file vocabulary_words;

#endif
