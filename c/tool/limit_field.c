// limit_field: one list of the fields.

#include "limit_field.h"

#include <string.h>

static const limit_field fields[] = {
    {"rate", LIMIT_FIELD_RATE, offsetof(weir_limit_options, rate)},
    {"period", LIMIT_FIELD_DURATION, offsetof(weir_limit_options, period_us)},
    {"burst", LIMIT_FIELD_COUNT, offsetof(weir_limit_options, burst)},
    {"queue", LIMIT_FIELD_COUNT, offsetof(weir_limit_options, queue)},
    {"limit", LIMIT_FIELD_COUNT, offsetof(weir_limit_options, limit)},
    {"window", LIMIT_FIELD_DURATION, offsetof(weir_limit_options, window_us)},
    {"offset", LIMIT_FIELD_DURATION, offsetof(weir_limit_options, offset_us)},
    {"slots", LIMIT_FIELD_COUNT, offsetof(weir_limit_options, slots)},
    {"strict", LIMIT_FIELD_FLAG, offsetof(weir_limit_options, strict)},
    {"gap", LIMIT_FIELD_DURATION, offsetof(weir_limit_options, gap_us)},
    {"count_denied", LIMIT_FIELD_FLAG, offsetof(weir_limit_options, count_denied)},
    {"ttl", LIMIT_FIELD_DURATION, offsetof(weir_limit_options, ttl_us)},
};

const limit_field *limit_field_find(const char *name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

void limit_field_set(weir_limit_options *options, const limit_field *field, int64_t value)
{
    bool nought = value == 0 && strcmp(field->name, "burst") == 0;
    value = nought ? WEIR_NONE : value;
    memcpy((char *)options + field->offset, &value, sizeof value);
}

void limit_field_set_flag(weir_limit_options *options, const limit_field *field, bool value)
{
    memcpy((char *)options + field->offset, &value, sizeof value);
}
