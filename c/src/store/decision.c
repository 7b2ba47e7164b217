// Decisions that no algorithm makes: the joint one, and that of a limit of 0. Each library that has
// a store has its own copy.

#include "store/store.h"

// Whether a wait is longer than another; never is longer than any.
static bool longer(int64_t a, int64_t b)
{
    if (a == WEIR_NEVER || b == WEIR_NEVER) {
        return a == WEIR_NEVER && b != WEIR_NEVER;
    }
    return a > b;
}

void weir_decision_join(weir_decision *out, const weir_decision *rows, size_t count)
{
    bool allowed = true;
    size_t least = 0, longest = 0;
    int64_t delay_us = 0;
    for (size_t i = 0; i < count; i++) {
        allowed &= rows[i].allowed;
        least = rows[i].remaining < rows[least].remaining ? i : least;
        longest = longer(rows[i].retry_after_us, rows[longest].retry_after_us) ? i : longest;
        delay_us = weir_max(delay_us, rows[i].delay_us);
    }
    const size_t binding = allowed ? least : longest;
    *out = rows[binding];
    out->allowed = allowed;
    out->binding = binding;
    out->remaining = rows[least].remaining;
    out->retry_after_us = allowed ? 0 : rows[longest].retry_after_us;
    out->delay_us = allowed ? delay_us : 0;
}

void weir_decision_of_nothing(weir_decision *out, weir_verb verb, const weir_check *check)
{
    const bool asks = verb == WEIR_VERB_TAKE || verb == WEIR_VERB_PEEK || verb == WEIR_VERB_DENY;
    const bool leases = check->limit->algorithm == WEIR_CONCURRENCY;
    const bool passes = leases ? false : !asks || check->cost == 0;
    *out = (weir_decision){.allowed = passes, .retry_after_us = asks && !passes ? WEIR_NEVER : 0};
}
