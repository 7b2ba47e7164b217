// What a runner asks of its policy: the source that holds now.

#ifndef WEIR_POLICY_RELOAD_H
#define WEIR_POLICY_RELOAD_H

#include "source.h"

#include "weir/policy.h"

// Grows with each reload that succeeded. Cheap, for every call asks it.
uint64_t policy_generation(const weir_policy *policy);

// A reference to the source that holds now.
source *policy_source(weir_policy *policy);

#endif
