// stamp: reads a time in the ways that logs write it. Exact in whole numbers, without the C
// library's locale and zone.

#include "log/stamp.h"

#include <stdio.h>
#include <string.h>

#include <weir/limit.h>

#define NO_TIME  "its time is neither ISO 8601, nor day/month/year, nor a number since 1970"
#define NO_DATE  "its time names a day that no calendar has"
#define NO_HOUR  "its time of day is out of range"
#define NO_ZONE  "its time zone is not like Z, +02:00 or -0400"
#define TOO_FAR  "its time is before 1970 or after 2112"
#define TOO_LONG "its time is longer than any way to write one"

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_char(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted) {
        return false;
    }
    c->at++;
    return true;
}

static bool take_digits(cursor *c, int count, int *out)
{
    if (c->end - c->at < count) {
        return false;
    }
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!is_digit(c->at[i])) {
            return false;
        }
        value = value * 10 + (c->at[i] - '0');
    }
    c->at += count;
    *out = value;
    return true;
}

// Days since 1970-01-01 of a day in the Gregorian calendar, counted in years that start in March.
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

static bool date_us_of(int year, int month, int day, int64_t *out_us)
{
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, month)) {
        return false;
    }
    *out_us = days_of(year, month, day) * WEIR_DAY;
    return true;
}

static int month_of(const char *name)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++) {
        if (memcmp(names + 3 * i, name, 3) == 0) {
            return i + 1;
        }
    }
    return 0;
}

// The date at the front, from the one before when it is written alike.
static const char *take_date(stamp_reader *reader, cursor *c, size_t size, bool iso)
{
    if ((size_t)(c->end - c->at) < size) {
        return NO_TIME;
    }
    if (reader->date_size == size && memcmp(reader->date, c->at, size) == 0) {
        c->at += size;
        return NULL;
    }
    const char *start = c->at;
    int year = 0, month = 0, day = 0;
    if (iso) {
        char dash = start[4];
        if (!take_digits(c, 4, &year) || (dash != '-' && dash != '/') || !take_char(c, dash) ||
            !take_digits(c, 2, &month) || !take_char(c, dash) || !take_digits(c, 2, &day)) {
            return NO_TIME;
        }
    } else {
        if (!take_digits(c, 2, &day) || !take_char(c, '/')) {
            return NO_TIME;
        }
        month = month_of(c->at);
        c->at += 3;
        if (!take_char(c, '/') || !take_digits(c, 4, &year)) {
            return NO_TIME;
        }
    }
    if (!date_us_of(year, month, day, &reader->date_us)) {
        return NO_DATE;
    }
    memcpy(reader->date, start, size);
    reader->date_size = size;
    return NULL;
}

// The digits after a decimal point as microseconds, where the number before it counts unit_us.
static bool take_fraction(stamp_reader *reader, cursor *c, int64_t unit_us, int64_t *out_us)
{
    int64_t us = 0;
    const char *start = c->at;
    for (; c->at < c->end && is_digit(*c->at); c->at++) {
        unit_us /= 10;
        us += unit_us * (*c->at - '0');
        if (unit_us == 0 && *c->at != '0') {
            reader->finer = true;
        }
    }
    *out_us = us;
    return c->at > start;
}

// hh:mm[:ss[.fraction]]. A leap second, 60, is the second after 59.
static const char *take_clock(stamp_reader *reader, cursor *c, int64_t *out_us)
{
    int hour, minute, second = 0;
    int64_t fraction_us = 0;
    if (!take_digits(c, 2, &hour) || !take_char(c, ':') || !take_digits(c, 2, &minute)) {
        return NO_TIME;
    }
    if (take_char(c, ':')) {
        if (!take_digits(c, 2, &second)) {
            return NO_TIME;
        }
        if ((take_char(c, '.') || take_char(c, ',')) &&
            !take_fraction(reader, c, WEIR_SECOND, &fraction_us)) {
            return NO_TIME;
        }
    }
    if (hour > 23 || minute > 59 || second > 60) {
        return NO_HOUR;
    }
    *out_us = hour * WEIR_HOUR + minute * WEIR_MINUTE + second * WEIR_SECOND + fraction_us;
    return NULL;
}

// The zone at the end: Z, UTC, GMT, +hh, +hhmm, +hh:mm, or none.
static const char *take_zone(stamp_reader *reader, cursor *c, int64_t *out_us)
{
    take_char(c, ' ');
    *out_us = 0;
    size_t left = (size_t)(c->end - c->at);
    if (left == 0) {
        reader->zoneless = true;
        return NULL;
    }
    int minutes = 0;
    bool utc = (left == 1 && (*c->at == 'Z' || *c->at == 'z')) ||
               (left == 3 && (memcmp(c->at, "UTC", 3) == 0 || memcmp(c->at, "GMT", 3) == 0));
    if (!utc) {
        bool west = *c->at == '-';
        int hour, minute = 0;
        if (!take_char(c, west ? '-' : '+') || !take_digits(c, 2, &hour)) {
            return NO_ZONE;
        }
        take_char(c, ':');
        if (c->at < c->end && !take_digits(c, 2, &minute)) {
            return NO_ZONE;
        }
        if (c->at != c->end || hour > 18 || minute > 59) {
            return NO_ZONE;
        }
        minutes = (west ? -1 : 1) * (hour * 60 + minute);
    }
    reader->zones_differ |= reader->zoned && minutes != reader->zone_minutes;
    reader->zone_minutes = reader->zoned ? reader->zone_minutes : minutes;
    reader->zoned = true;
    *out_us = minutes * WEIR_MINUTE;
    return NULL;
}

static const char *read_calendar(stamp_reader *reader, cursor c, int64_t *out_us)
{
    bool iso = c.end - c.at > 2 && is_digit(c.at[2]);
    const char *wrong = take_date(reader, &c, iso ? 10 : 11, iso);
    if (wrong) {
        return wrong;
    }
    bool parted =
        iso ? take_char(&c, 'T') || take_char(&c, 't') || take_char(&c, ' ') : take_char(&c, ':');
    if (!parted) {
        return NO_TIME;
    }
    int64_t clock_us, zone_us;
    if ((wrong = take_clock(reader, &c, &clock_us)) || (wrong = take_zone(reader, &c, &zone_us))) {
        return wrong;
    }
    reader->kinds |= 1U << (iso ? STAMP_ISO : STAMP_CLF);
    *out_us = reader->date_us + clock_us - zone_us;
    return NULL;
}

// The unit of a number since 1970 is told by its size: 10^11 seconds would be the year 5138.
static const char *read_epoch(stamp_reader *reader, cursor c, int64_t *out_us)
{
    int64_t whole = 0, fraction_us = 0;
    for (; c.at < c.end && is_digit(*c.at); c.at++) {
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *c.at - '0', &whole)) {
            return TOO_FAR;
        }
    }

    stamp_kind kind;
    if (whole < INT64_C(100000000000)) {
        kind = STAMP_EPOCH_S;
    } else if (whole < INT64_C(100000000000000)) {
        kind = STAMP_EPOCH_MS;
    } else if (whole < INT64_C(100000000000000000)) {
        kind = STAMP_EPOCH_US;
    } else {
        kind = STAMP_EPOCH_NS;
    }
    int64_t unit_us = kind == STAMP_EPOCH_S ? WEIR_SECOND : kind == STAMP_EPOCH_MS ? 1000 : 1;

    if (take_char(&c, '.') && !take_fraction(reader, &c, unit_us, &fraction_us)) {
        return NO_TIME;
    }
    if (c.at != c.end) {
        return NO_TIME;
    }
    if (kind == STAMP_EPOCH_NS) {
        reader->finer |= whole % 1000 != 0;
        whole /= 1000;
    }
    reader->kinds |= 1U << kind;
    *out_us = whole * unit_us + fraction_us;
    return NULL;
}

const char *stamp_read(stamp_reader *reader, const char *text, size_t size, int64_t *out_us)
{
    if (size == reader->last_size && size > 0 && memcmp(text, reader->last, size) == 0) {
        *out_us = reader->last_us;
        return NULL;
    }
    if (size >= STAMP_TEXT_MAX) {
        return TOO_LONG;
    }
    cursor c = {text, text + size};
    if (size > 2 && text[0] == '[' && text[size - 1] == ']') {
        c.at++;
        c.end--;
    }
    if (c.at == c.end) {
        return "its time is missing";
    }
    if (*c.at == '-' && c.end - c.at > 1 && is_digit(c.at[1])) {
        return TOO_FAR;
    }
    if (!is_digit(*c.at)) {
        return NO_TIME;
    }

    // A calendar date has its first mark after two or four digits, a number has no such mark.
    size_t digits = 0;
    while (c.at + digits < c.end && digits <= 4 && is_digit(c.at[digits])) {
        digits++;
    }
    bool marked = c.at + digits < c.end && (c.at[digits] == '/' || c.at[digits] == '-');
    bool calendar = marked && (digits == 2 || digits == 4);
    int64_t time_us;
    const char *wrong =
        calendar ? read_calendar(reader, c, &time_us) : read_epoch(reader, c, &time_us);
    if (wrong) {
        return wrong;
    }
    if (time_us < 1 || time_us > WEIR_NOW_MAX) {
        return TOO_FAR;
    }
    memcpy(reader->last, text, size);
    reader->last_size = size;
    reader->last_us = time_us;
    *out_us = time_us;
    return NULL;
}

const char *stamp_kind_name(stamp_kind kind)
{
    static const char *const names[] = {
#define STAMP_KIND_NAME(name, text) text,
        STAMP_KIND_LIST(STAMP_KIND_NAME)
#undef STAMP_KIND_NAME
    };
    return names[kind];
}

char *stamp_format(int64_t time_us, char out[STAMP_ISO_TEXT])
{
    int64_t days = time_us / WEIR_DAY, rest = time_us % WEIR_DAY;
    int64_t z = days + 719468, era = z / 146097, of_era = z % 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * of_year + 2) / 153;
    int day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    int month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    int year = (int)(year_of_era + era * 400 + (month <= 2));

    int64_t seconds = rest / WEIR_SECOND, fraction = rest % WEIR_SECOND;
    int size = snprintf(out, STAMP_ISO_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day,
                        (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (fraction != 0) {
        size += snprintf(out + size, STAMP_ISO_TEXT - (size_t)size, ".%06d", (int)fraction);
        while (out[size - 1] == '0') {
            size--;
        }
    }
    snprintf(out + size, STAMP_ISO_TEXT - (size_t)size, "Z");
    return out;
}
