// stamp.h: one time as logs write it, as microseconds since 1970 UTC.

#ifndef WEIR_TOOL_STAMP_H
#define WEIR_TOOL_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The ways to write a time, as they are named in reports. A unit is told by the size of the number.
#define STAMP_KIND_LIST(X)                                                                         \
    X(CLF, "day/month/year:time zone")                                                             \
    X(ISO, "ISO 8601")                                                                             \
    X(EPOCH_S, "epoch seconds")                                                                    \
    X(EPOCH_MS, "epoch milliseconds")                                                              \
    X(EPOCH_US, "epoch microseconds")                                                              \
    X(EPOCH_NS, "epoch nanoseconds")

typedef enum stamp_kind {
#define STAMP_KIND_CODE(name, text) STAMP_##name,
    STAMP_KIND_LIST(STAMP_KIND_CODE)
#undef STAMP_KIND_CODE
        STAMP_KINDS
} stamp_kind;

#define STAMP_TEXT_MAX 48

// Reads the stamps of one log and remembers what they were like. Lines of a log mostly share the
// date, and often the whole stamp, with the line before: both are kept.
typedef struct stamp_reader {
    char last[STAMP_TEXT_MAX];
    size_t last_size; // 0: none yet
    int64_t last_us;
    char date[16];
    size_t date_size;
    int64_t date_us;

    unsigned kinds;       // a bit for each stamp_kind met
    bool zoned, zoneless; // some stamps named their zone, some did not (those are taken as UTC)
    int zone_minutes;     // of the first that did
    bool zones_differ;
    bool finer; // some had digits below the microsecond, which are dropped
} stamp_reader;

// Reads the text into *out_us, 1 to 2^52. NULL when it is a time, else why it is none: a static
// half sentence.
const char *stamp_read(stamp_reader *reader, const char *text, size_t size, int64_t *out_us);

const char *stamp_kind_name(stamp_kind kind);

// "2024-05-12T00:00:17Z", with as many decimals as it takes.
#define STAMP_ISO_TEXT 40
char *stamp_format(int64_t time_us, char out[STAMP_ISO_TEXT]);

// The largest of 1us, 10us, ... 1s, 1m, 1h in which every time so far is whole.
typedef struct stamp_step {
    int64_t unit_us;
    uint64_t count;
} stamp_step;

#define STAMP_STEP_START                                                                           \
    {                                                                                              \
        INT64_C(3600000000), 0                                                                     \
    }

static inline void stamp_step_add(stamp_step *step, int64_t time_us)
{
    step->count++;
    while (time_us % step->unit_us != 0) {
        step->unit_us = step->unit_us > INT64_C(1000000) ? step->unit_us / 60 : step->unit_us / 10;
    }
}

// Few whole minutes may be chance: above a second it takes a hundred times.
static inline int64_t stamp_step_us(const stamp_step *step)
{
    bool chance = step->unit_us > INT64_C(1000000) && step->count < 100;
    return chance ? INT64_C(1000000) : step->unit_us;
}

#endif
