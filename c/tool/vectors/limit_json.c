// limit_json: each member is a field of the options; any other is a mistake.

#include "vectors/limit_json.h"

#include <stdio.h>
#include <string.h>

#include "limit_field.h"

static bool set_member(weir_limit_options *options, const char *name, const json_t *value)
{
    const limit_field *field = limit_field_find(name);
    if (field && field->kind != LIMIT_FIELD_FLAG && json_is_integer(value)) {
        limit_field_set(options, field, json_integer_value(value));
        return true;
    }
    if (field && field->kind == LIMIT_FIELD_FLAG && json_is_boolean(value)) {
        limit_field_set_flag(options, field, json_is_true(value));
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
    json_object_foreach ((json_t *)object, key, value) {
        if (strcmp(key, "algorithm") == 0 || set_member(&options, key, value)) {
            continue;
        }
        snprintf(error->message, sizeof error->message,
                 "the limit's %.60s is no parameter, or not of its type", key);
        return error->status = WEIR_INVALID;
    }
    return weir_limit_init(out, &options, error);
}
