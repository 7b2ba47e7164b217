// fail_if: count, comparison, number.

#include "replay/fail_if.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} names[] = {
    {"requests", offsetof(fail_counts, requests)}, {"allowed", offsetof(fail_counts, allowed)},
    {"refused", offsetof(fail_counts, refused)},   {"failed", offsetof(fail_counts, failed)},
    {"skipped", offsetof(fail_counts, skipped)},   {"evicted", offsetof(fail_counts, evicted)},
};

// Those of two characters first: ">=" begins with ">".
enum { AT_LEAST, AT_MOST, EQUAL, UNLIKE, ABOVE, BELOW };
static const char *const operators[] = {">=", "<=", "==", "!=", ">", "<"};

#define LIST_SIZE(list) (sizeof(list) / sizeof *(list))

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

// A number without a sign: digits, and a fraction.
static bool take_number(const char **at, double *out)
{
    double value = 0, unit = 1;
    const char *start = *at;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        value = value * 10 + (**at - '0');
    }
    if (*at == start) {
        return false;
    }
    if (**at == '.') {
        start = ++*at;
        for (; **at >= '0' && **at <= '9'; ++*at) {
            value += (**at - '0') * (unit /= 10);
        }
        if (*at == start) {
            return false;
        }
    }
    *out = value;
    return true;
}

bool fail_if_parse(fail_if *out, const char *text, char *error, size_t error_size)
{
    *out = (fail_if){.text = text, .comparison = -1};
    const char *at = skip_blanks(text);
    size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz");
    bool named = false;
    for (size_t i = 0; i < LIST_SIZE(names) && !named; i++) {
        named = strlen(names[i].name) == size && memcmp(names[i].name, at, size) == 0;
        out->count_offset = names[i].offset;
    }
    at = skip_blanks(at + size);
    for (size_t i = 0; i < LIST_SIZE(operators) && out->comparison < 0; i++) {
        if (strncmp(at, operators[i], strlen(operators[i])) == 0) {
            out->comparison = (int)i;
        }
    }
    if (named && out->comparison >= 0) {
        at = skip_blanks(at + strlen(operators[out->comparison]));
        if (take_number(&at, &out->value)) {
            at = skip_blanks(at);
            out->percent = *at == '%';
            at = skip_blanks(at + out->percent);
            if (*at == '\0') {
                return true;
            }
        }
    }
    snprintf(error, error_size,
             "--fail-if was \"%.100s\"; it must be like \"refused > 1%%\" or \"skipped >= 100\", "
             "of requests, allowed, refused, failed, skipped or evicted, with >, >=, <, <=, == "
             "or !=",
             text);
    return false;
}

bool fail_if_holds(const fail_if *condition, const fail_counts *counts)
{
    uint64_t count;
    memcpy(&count, (const char *)counts + condition->count_offset, sizeof count);
    bool of_lines = condition->count_offset == offsetof(fail_counts, skipped);
    double value = (double)count;
    if (condition->percent) {
        uint64_t whole = counts->requests + (of_lines ? counts->skipped : 0);
        value = whole ? 100 * value / (double)whole : 0;
    }
    switch (condition->comparison) {
    case AT_LEAST:
        return value >= condition->value;
    case AT_MOST:
        return value <= condition->value;
    case EQUAL:
        return value == condition->value;
    case UNLIKE:
        return value != condition->value;
    case ABOVE:
        return value > condition->value;
    default:
        return value < condition->value;
    }
}
