// Durations, rates and whole numbers as people write them.

#ifndef WEIR_DURATION_H
#define WEIR_DURATION_H

#include <stdint.h>

#include "weir/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// "250ms", "90s", "1m30s", "1.5h", "1d", "1w": numbers with units us, ms, s, m, h, d, w, the larger
// first and each once. Anything unclear is refused: no unit, a month, a blank inside a number, a
// fraction of a microsecond, more than 2^45 us. `field` names the value in the sentence.
WEIR_API weir_status weir_duration_parse(const char *text, const char *field, int64_t *out_us,
                                         weir_error *error);

// "10/s", "100 per minute", "5/15m", "1000/day": a whole number, then a duration or the name of one
// unit.
WEIR_API weir_status weir_rate_parse(const char *text, const char *field, int64_t *out_rate,
                                     int64_t *out_period_us, weir_error *error);

// The shortest exact form of a duration: "1m30s", "250ms", "0s", "-1" for WEIR_NEVER. Returns out,
// always ended by a NUL.
#define WEIR_DURATION_TEXT 40
WEIR_API char *weir_duration_format(int64_t duration_us, char out[WEIR_DURATION_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
