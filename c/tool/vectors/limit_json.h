// limit_json.h: a limit as vector files write it.

#ifndef WEIR_TOOL_LIMIT_JSON_H
#define WEIR_TOOL_LIMIT_JSON_H

#include <jansson.h>

#include <weir/limit.h>

// Reads {"algorithm": ..., "limit": ..., "window": ...}: names as in policies, durations in
// microseconds, and a burst of 0 means nought. WEIR_INVALID with a sentence.
weir_status limit_from_json(weir_limit *out, const json_t *object, const char *name,
                            weir_error *error);

#endif
