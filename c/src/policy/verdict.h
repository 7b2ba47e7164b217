// What a policy's function of the request returned, read into checks.

#ifndef WEIR_POLICY_VERDICT_H
#define WEIR_POLICY_VERDICT_H

#include "instance.h"

typedef struct verdict {
    bool refused; // false or weir.deny: no check matters
    size_t count; // checks, in the order in which they were returned
    weir_check checks[WEIR_CHECKS_MAX];
    bool shadow[WEIR_CHECKS_MAX];
    bool has_shadow;
} verdict;

// Reads what instance_call left on the stack. The checks are good until the next call.
weir_status verdict_read(instance *in, verdict *out, weir_error *error);

#endif
