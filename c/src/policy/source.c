// Compiling a policy, within bounds that hold for compiling too.

#include "source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "instance.h"

// Each jump that is resolved moves all those still open: the one quadratic step of the compiler
// that feeds on no text, so that the clock can't be read meanwhile.
enum { JUMPS_MAX = 256 };

static size_t count_word(const char *text, size_t size, const char *word)
{
    const size_t word_size = strlen(word);
    size_t count = 0;
    for (size_t i = 0; i + word_size <= size; i++) {
        count += memcmp(text + i, word, word_size) == 0;
    }
    return count;
}

static weir_status check_text(const char *title, const char *text, size_t size, weir_error *error)
{
    if (size > SOURCE_TEXT_MAX) {
        return weir_fail(error, WEIR_POLICY, "%s: the policy has %zu bytes; at most %zu are read",
                         title, size, SOURCE_TEXT_MAX);
    }
    if (size > 0 && text[0] == '\x1b') {
        return weir_fail(error, WEIR_POLICY,
                         "%s: the policy is compiled code; it must be Lua source", title);
    }
    const size_t jumps = count_word(text, size, "goto") + count_word(text, size, "break");
    if (jumps > JUMPS_MAX) {
        return weir_fail(error, WEIR_POLICY,
                         "%s: the policy says goto and break %zu times; at most %d are allowed",
                         title, jumps, JUMPS_MAX);
    }
    return WEIR_OK;
}

// As Lua shows it in its own messages: a long path keeps its end.
static void make_title(source *s)
{
    const char *name = s->chunk_name + 1;
    const size_t size = strlen(name), most = LUA_IDSIZE - 1;
    if (size <= most) {
        memcpy(s->title, name, size + 1);
        return;
    }
    memcpy(s->title, "...", 3);
    memcpy(s->title + 3, name + size - (most - 3), most - 3 + 1);
}

static source *allocate(const char *name, const source_terms *terms)
{
    source *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    atomic_init(&s->references, 1);
    s->terms = *terms;
    const size_t size = strlen(name);
    s->chunk_name = malloc(size + 2);
    if (s->chunk_name == NULL) {
        free(s);
        return NULL;
    }
    s->chunk_name[0] = '@';
    memcpy(s->chunk_name + 1, name, size + 1);
    make_title(s);
    return s;
}

weir_status source_open(source **out, const char *name, const char *text, size_t text_size,
                        const source_terms *terms, weir_error *error)
{
    source *s = allocate(name, terms);
    if (s == NULL) {
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for the policy");
    }
    weir_status status = check_text(s->title, text, text_size, error);
    if (status == WEIR_OK) {
        instance *first;
        status = instance_open(&first, s, text, text_size, error);
        if (status == WEIR_OK) {
            instance_close(first);
        }
    }
    if (status != WEIR_OK) {
        source_drop(s);
        return status;
    }
    *out = s;
    return WEIR_OK;
}

source *source_keep(source *s)
{
    atomic_fetch_add(&s->references, 1);
    return s;
}

void source_drop(source *s)
{
    if (s == NULL || atomic_fetch_sub(&s->references, 1) > 1) {
        return;
    }
    for (size_t i = 0; i < s->limit_count; i++) {
        free(s->limits[i]);
    }
    free(s->limits);
    free(s->shadow);
    free(s->code);
    free(s->chunk_name);
    free(s);
}

// Room for all is taken at the first: an array that stays where it is needs no care.
weir_status source_add_limit(source *s, const weir_limit *limit, bool shadow, weir_error *error)
{
    if (s->limit_count == SOURCE_LIMITS_MAX) {
        return weir_fail(error, WEIR_INVALID, "the policy makes more than %d limits",
                         SOURCE_LIMITS_MAX);
    }
    if (s->limits == NULL) {
        s->limits = calloc(SOURCE_LIMITS_MAX, sizeof *s->limits);
    }
    if (s->shadow == NULL) {
        s->shadow = calloc(SOURCE_LIMITS_MAX, sizeof *s->shadow);
    }
    weir_limit *kept = malloc(sizeof *kept);
    if (s->limits == NULL || s->shadow == NULL || kept == NULL) {
        free(kept);
        return weir_fail(error, WEIR_NO_MEMORY, "memory could not be had for a limit");
    }
    *kept = *limit;
    s->limits[s->limit_count] = kept;
    s->shadow[s->limit_count] = shadow;
    s->limit_count++;
    return WEIR_OK;
}

size_t source_find_limit(const source *s, const weir_limit *limit)
{
    size_t i = 0;
    while (i < s->limit_count && (s->limits[i]->algorithm != limit->algorithm ||
                                  strcmp(s->limits[i]->name, limit->name) != 0)) {
        i++;
    }
    return i;
}
