// limit_json: each member has its place in the options; what is in neither list is a mistake.

#include "vectors/limit_json.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct member {
    const char *name;
    size_t offset;
} member;

static const member numbers[] = {
    {"rate", offsetof(weir_limit_options, rate)},
    {"period", offsetof(weir_limit_options, period_us)},
    {"burst", offsetof(weir_limit_options, burst)},
    {"queue", offsetof(weir_limit_options, queue)},
    {"limit", offsetof(weir_limit_options, limit)},
    {"window", offsetof(weir_limit_options, window_us)},
    {"offset", offsetof(weir_limit_options, offset_us)},
    {"slots", offsetof(weir_limit_options, slots)},
    {"gap", offsetof(weir_limit_options, gap_us)},
    {"ttl", offsetof(weir_limit_options, ttl_us)},
};

static const member flags[] = {
    {"strict", offsetof(weir_limit_options, strict)},
    {"count_denied", offsetof(weir_limit_options, count_denied)},
};

static const member *find(const member *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static bool set_member(weir_limit_options *options, const char *name, const json_t *value)
{
    const member *number = find(numbers, sizeof numbers / sizeof *numbers, name);
    const member *flag = find(flags, sizeof flags / sizeof *flags, name);
    if (number && json_is_integer(value)) {
        int64_t given = json_integer_value(value);
        bool nought = given == 0 && strcmp(name, "burst") == 0;
        given = nought ? WEIR_NONE : given;
        memcpy((char *)options + number->offset, &given, sizeof given);
        return true;
    }
    if (flag && json_is_boolean(value)) {
        bool given = json_is_true(value);
        memcpy((char *)options + flag->offset, &given, sizeof given);
        return true;
    }
    return false;
}

weir_status limit_from_json(weir_limit *out, const json_t *object, const char *name,
                            weir_error *error)
{
    weir_limit_options options = {.name = name};
    const char *algorithm = json_string_value(json_object_get(object, "algorithm"));
    weir_status status =
        weir_algorithm_parse(algorithm ? algorithm : "", &options.algorithm, error);
    if (status != WEIR_OK) {
        return status;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (strcmp(key, "algorithm") == 0 || set_member(&options, key, value)) {
            continue;
        }
        snprintf(error->message, sizeof error->message,
                 "the limit's %.60s is no parameter, or not of its type", key);
        return error->status = WEIR_INVALID;
    }
    return weir_limit_init(out, &options, error);
}
