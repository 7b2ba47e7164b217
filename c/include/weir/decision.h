// A decision: may it pass, and if not, when.

#ifndef WEIR_DECISION_H
#define WEIR_DECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// retry_after_us when no wait can help: the cost is above the limit.
#define WEIR_NEVER INT64_C(-1)

// Who decided: the store, or what was asked for in case that it can't be reached (redis.h).
typedef enum weir_source {
    WEIR_SOURCE_STORE,
    WEIR_SOURCE_DENY_ON_ERROR,
    WEIR_SOURCE_ALLOW_ON_ERROR,
} weir_source;

typedef struct weir_decision {
    bool allowed;           // may it pass? For renew and release: was the id held?
    weir_status status;     // take_many: whether this check was answered; elsewhere WEIR_OK
    size_t binding;         // take_all: the index of the check that binds; elsewhere 0
    int64_t limit;          // the most that could ever pass at one instant
    int64_t remaining;      // the largest cost that would pass now, after this call
    int64_t retry_after_us; // 0 when allowed. Refused: the same cost passes at exactly now + this,
                            // and not sooner
    int64_t reset_after_us; // until the key is as if untouched
    int64_t delay_us;       // leaky_bucket: how long an allowed request must wait for its turn
    weir_source source;     // who decided
    uint32_t reserved_word;
    uint64_t reserved[1];
} weir_decision;

#ifdef __cplusplus
}
#endif

#endif
