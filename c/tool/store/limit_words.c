// limit_words: each word sets one field; the first that holds no "=" ends them.

#include "store/limit_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weir/duration.h>

#include "limit_field.h"
#include "text.h"

__attribute__((format(printf, 2, 3))) static weir_status wrong(weir_error *error,
                                                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return error->status = WEIR_INVALID;
}

static weir_status set_number(weir_limit_options *options, const limit_field *field,
                              const char *value, weir_error *error)
{
    uint64_t whole;
    if (!text_whole_parse(value, INT64_MAX, &whole)) {
        return wrong(error, "%s was \"%.100s\"; it must be a whole number", field->name, value);
    }
    limit_field_set(options, field, (int64_t)whole);
    return WEIR_OK;
}

static weir_status set_flag(weir_limit_options *options, const limit_field *field,
                            const char *value, weir_error *error)
{
    bool yes = strcmp(value, "yes") == 0 || strcmp(value, "true") == 0;
    if (!yes && strcmp(value, "no") != 0 && strcmp(value, "false") != 0) {
        return wrong(error, "%s was \"%.100s\"; it must be yes or no", field->name, value);
    }
    limit_field_set_flag(options, field, yes);
    return WEIR_OK;
}

static weir_status set_field(weir_limit_options *options, const limit_field *field,
                             const char *value, weir_error *error)
{
    int64_t duration_us;
    switch (field->kind) {
    case LIMIT_FIELD_FLAG:
        return set_flag(options, field, value, error);
    case LIMIT_FIELD_DURATION: {
        weir_status status = weir_duration_parse(value, field->name, &duration_us, error);
        limit_field_set(options, field, status == WEIR_OK ? duration_us : 0);
        return status;
    }
    case LIMIT_FIELD_RATE:
        if (value[strspn(value, "0123456789")] != '\0') {
            return weir_rate_parse(value, field->name, &options->rate, &options->period_us, error);
        }
        return set_number(options, field, value, error);
    case LIMIT_FIELD_COUNT:
        break;
    }
    return set_number(options, field, value, error);
}

// A limit of nought refuses everything, so one that was forgotten must not be it.
static bool wants_limit(weir_algorithm algorithm)
{
    return algorithm == WEIR_FIXED_WINDOW || algorithm == WEIR_SLIDING_LOG ||
           algorithm == WEIR_SLIDING_COUNTER || algorithm == WEIR_CONCURRENCY;
}

static bool is_given(char *const *words, size_t count, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(words[i], name, size) == 0 && words[i][size] == '=') {
            return true;
        }
    }
    return false;
}

static weir_status read_word(weir_limit_options *options, char *const *words, size_t at,
                             weir_error *error)
{
    const char *word = words[at], *equals = strchr(word, '=');
    char name[24];
    snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
    if (is_given(words, at, name)) {
        return wrong(error, "%s was given twice", name);
    }
    if (strcmp(name, "name") == 0) {
        options->name = equals + 1;
        return WEIR_OK;
    }
    const limit_field *field = limit_field_find(name);
    if (!field) {
        return wrong(error,
                     "\"%.100s\" is no field of a limit; a key with \"=\" in it is given with "
                     "--key",
                     word);
    }
    return set_field(options, field, equals + 1, error);
}

weir_status limit_words_read(char *const *words, size_t count, weir_limit *out, size_t *used,
                             weir_error *error)
{
    weir_limit_options options = {0};
    if (count == 0) {
        return wrong(error, "a limit must be given, such as token_bucket name=login rate=5/m");
    }
    weir_status status = weir_algorithm_parse(words[0], &options.algorithm, error);
    size_t at = 1;
    for (; status == WEIR_OK && at < count && strchr(words[at], '='); at++) {
        status = read_word(&options, words + 1, at - 1, error);
    }
    *used = at;
    if (status != WEIR_OK) {
        return status;
    }
    if (!options.name) {
        return wrong(error, "name must be given, such as name=login; it is part of the key");
    }
    if (wants_limit(options.algorithm) && !is_given(words + 1, at - 1, "limit")) {
        return wrong(error, "limit must be given, such as limit=5");
    }
    return weir_limit_init(out, &options, error);
}
