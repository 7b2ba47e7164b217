// Durations and rates as people write them, read exactly or refused.

#include "weir/duration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "weir/limit.h"

typedef struct unit {
    const char *text;
    const char *word; // as a rate says it: per minute
    int64_t us;
} unit;

// From the largest to the smallest, the order in which a duration names them.
static const unit units[] = {
    {"w", "week", 7 * WEIR_DAY},  {"d", "day", WEIR_DAY},
    {"h", "hour", WEIR_HOUR},     {"m", "minute", WEIR_MINUTE},
    {"s", "second", WEIR_SECOND}, {"ms", "millisecond", WEIR_MILLISECOND},
    {"us", "microsecond", 1},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

#define DURATION_HINT "a duration such as \"250ms\", \"1m30s\" or \"1d\" (us, ms, s, m, h, d, w)"
#define RATE_HINT     "a rate such as \"10/s\", \"100 per minute\" or \"5/15m\""

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

// A whole number of at most 15 digits, which no later product by a unit can overflow in 128 bits.
static bool read_whole(const char **text, int64_t *out)
{
    const char *start = *text;
    int64_t value = 0;
    while (is_digit(**text) && *text - start < 15) {
        value = value * 10 + (*(*text)++ - '0');
    }
    *out = value;
    return *text > start && !is_digit(**text);
}

// The digits after a point, as a numerator over `scale`.
static bool read_fraction(const char **text, int64_t *numerator, int64_t *scale)
{
    *numerator = 0;
    *scale = 1;
    if (**text != '.') {
        return true;
    }
    (*text)++;
    const char *start = *text;
    while (is_digit(**text) && *text - start < 9) {
        *numerator = *numerator * 10 + (*(*text)++ - '0');
        *scale *= 10;
    }
    return *text > start && !is_digit(**text);
}

static const unit *read_unit(const char **text, bool words)
{
    const char *end = *text;
    while (is_letter(*end)) {
        end++;
    }
    size_t size = (size_t)(end - *text);
    for (int i = 0; i < UNIT_COUNT; i++) {
        bool short_form = strlen(units[i].text) == size && memcmp(*text, units[i].text, size) == 0;
        bool word =
            words && strlen(units[i].word) == size && memcmp(*text, units[i].word, size) == 0;
        if (short_form || word) {
            *text = end;
            return &units[i];
        }
    }
    return NULL;
}

// Numbers with units, each unit smaller than the one before. False when the text is anything else.
static bool read_duration(const char *text, int64_t *out_us)
{
    __int128 total = 0;
    const unit *last = NULL;
    do {
        int64_t whole, numerator, scale;
        if (!read_whole(&text, &whole) || !read_fraction(&text, &numerator, &scale)) {
            return false;
        }
        const unit *found = read_unit(&text, false);
        if (found == NULL || (last != NULL && found <= last)) {
            return false;
        }
        __int128 part = (__int128)numerator * found->us;
        if (part % scale != 0) {
            return false;
        }
        total += (__int128)whole * found->us + part / scale;
        last = found;
    } while (*text != '\0');
    if (total > INT64_MAX) {
        return false;
    }
    *out_us = (int64_t)total;
    return true;
}

weir_status weir_duration_parse(const char *text, const char *field, int64_t *out_us,
                                weir_error *error)
{
    int64_t us;
    if (text == NULL || !read_duration(text, &us)) {
        return weir_fail(error, WEIR_INVALID, "%s was \"%.60s\"; it must be " DURATION_HINT, field,
                         text == NULL ? "" : text);
    }
    if (us > WEIR_DURATION_MAX) {
        return weir_fail(error, WEIR_INVALID,
                         "%s was \"%.60s\"; it must be at most 2^45 us, which is 407 days", field,
                         text);
    }
    *out_us = us;
    return WEIR_OK;
}

// What stands between the number and the period: a slash, or " per ".
static bool read_per(const char **text)
{
    static const char per[] = " per ";
    if (**text == '/') {
        (*text)++;
        return true;
    }
    if (strncmp(*text, per, sizeof per - 1) != 0) {
        return false;
    }
    *text += sizeof per - 1;
    return true;
}

static bool read_period(const char *text, int64_t *out_us)
{
    if (is_digit(*text)) {
        return read_duration(text, out_us);
    }
    const unit *found = read_unit(&text, true);
    if (found == NULL || *text != '\0') {
        return false;
    }
    *out_us = found->us;
    return true;
}

weir_status weir_rate_parse(const char *text, const char *field, int64_t *out_rate,
                            int64_t *out_period_us, weir_error *error)
{
    const char *rest = text;
    int64_t rate, period_us;
    if (text == NULL || !read_whole(&rest, &rate) || !read_per(&rest) ||
        !read_period(rest, &period_us)) {
        return weir_fail(error, WEIR_INVALID, "%s was \"%.60s\"; it must be " RATE_HINT, field,
                         text == NULL ? "" : text);
    }
    *out_rate = rate;
    *out_period_us = period_us;
    return WEIR_OK;
}

char *weir_duration_format(int64_t duration_us, char out[WEIR_DURATION_TEXT])
{
    if (duration_us <= 0) {
        snprintf(out, WEIR_DURATION_TEXT, "%s", duration_us == 0 ? "0s" : "-1");
        return out;
    }
    size_t used = 0;
    for (int i = 1; i < UNIT_COUNT; i++) { // weeks are read, and written as days
        int64_t whole = duration_us / units[i].us;
        if (whole > 0) {
            used += (size_t)snprintf(out + used, WEIR_DURATION_TEXT - used, "%" PRId64 "%s", whole,
                                     units[i].text);
            duration_us -= whole * units[i].us;
        }
    }
    return out;
}
