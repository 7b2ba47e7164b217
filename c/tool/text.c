// text: writes for people, and reads what they give as options.

#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Writes one byte as it is shown, and returns how long that is.
static size_t escape_byte(unsigned char byte, char out[8])
{
    if (byte == '\\') {
        return (size_t)snprintf(out, 8, "\\\\");
    }
    if (byte >= 0x20 && byte < 0x7f) {
        return (size_t)snprintf(out, 8, "%c", byte);
    }
    return (size_t)snprintf(out, 8, "\\x%02x", byte);
}

char *text_escape(const void *bytes, size_t size, char *out, size_t out_size)
{
    static const char dots[] = "...";
    const unsigned char *at = bytes;
    char piece[8];
    size_t whole = 0, used = 0;
    for (size_t i = 0; i < size && whole < out_size; i++) {
        whole += escape_byte(at[i], piece);
    }
    bool cut = whole >= out_size;
    size_t room = out_size - 1 - (cut ? sizeof dots - 1 : 0);
    for (size_t i = 0; i < size; i++) {
        size_t length = escape_byte(at[i], piece);
        if (used + length > room) {
            break;
        }
        memcpy(out + used, piece, length);
        used += length;
    }
    strcpy(out + used, cut ? dots : "");
    return out;
}

char *text_count(uint64_t count, char out[TEXT_COUNT])
{
    char digits[24];
    size_t size = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count), used = 0;
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            out[used++] = ',';
        }
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

char *text_percent(uint64_t part, uint64_t whole, char out[TEXT_PERCENT])
{
    if (whole == 0) {
        snprintf(out, TEXT_PERCENT, "-");
    } else {
        snprintf(out, TEXT_PERCENT, "%.2f %%", 100.0 * (double)part / (double)whole);
    }
    return out;
}

char *text_span(int64_t span_us, char out[TEXT_SPAN])
{
    static const struct {
        int64_t unit_us;
        const char *name;
    } units[] = {{INT64_C(86400000000), "d"},
                 {INT64_C(3600000000), "h"},
                 {60000000, "m"},
                 {1000000, "s"},
                 {1000, "ms"},
                 {1, "us"}};
    size_t i = 0;
    while (i < 5 && span_us < units[i].unit_us) {
        i++;
    }
    int64_t count = span_us / units[i].unit_us;
    int64_t rest = i < 5 ? span_us % units[i].unit_us / units[i + 1].unit_us : 0;
    if (rest > 0 && i < 3) {
        snprintf(out, TEXT_SPAN, "%" PRId64 "%s %" PRId64 "%s", count, units[i].name, rest,
                 units[i + 1].name);
    } else {
        snprintf(out, TEXT_SPAN, "%" PRId64 "%s", count, units[i].name);
    }
    return out;
}

// The digits at the front; false when there are none or they pass `most`.
static bool take_whole(const char **text, uint64_t most, uint64_t *out)
{
    const char *at = *text;
    uint64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > most || value > (most - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    bool any = at > *text;
    *text = at;
    *out = value;
    return any;
}

bool text_whole_parse(const char *text, uint64_t most, uint64_t *out)
{
    return take_whole(&text, most, out) && *text == '\0';
}

bool text_size_parse(const char *text, size_t *out)
{
    static const struct {
        const char *unit;
        int shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    uint64_t value;
    if (!take_whole(&text, UINT64_C(1) << 33, &value)) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, units[i].unit) == 0) {
            *out = (size_t)(value << units[i].shift);
            return true;
        }
    }
    return false;
}
