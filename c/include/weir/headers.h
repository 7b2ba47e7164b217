// The headers of an HTTP answer, from decisions: Retry-After, RateLimit and RateLimit-Policy.
//
// Retry-After: RFC 9110, 10.2.3. RateLimit: draft-ietf-httpapi-ratelimit-headers. Lists and strings
// are those of RFC 9651. Waits are rounded up to the second and what remains is rounded down, so
// who does as told is never too early.

#ifndef WEIR_HEADERS_H
#define WEIR_HEADERS_H

#include "weir/decision.h"
#include "weir/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

// How what is left of a limit is told. The drafts are no standard, so the form is the caller's.
typedef enum weir_headers_form {
    WEIR_HEADERS_DRAFT_08, // RateLimit: "a";r=5;t=30 and RateLimit-Policy: "a";q=9;w=60, one member
                           // a limit; revisions 08 to 11
    WEIR_HEADERS_DRAFT_07, // RateLimit: limit=9, remaining=5, reset=30 of the limit that binds
    WEIR_HEADERS_DRAFT_06, // RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset; 00 to 06
    WEIR_HEADERS_X,        // X-RateLimit-Limit, -Remaining, -Reset in seconds from now
    WEIR_HEADERS_X_EPOCH,  // the same with the reset as a Unix time
    WEIR_HEADERS_NONE,     // Retry-After alone
} weir_headers_form;

#ifdef __cplusplus
}
#endif

#endif
