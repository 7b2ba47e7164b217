// The headers of an HTTP answer, from what was decided: Retry-After, RateLimit and its policies.
//
// Retry-After is that of RFC 9110, lists and strings those of RFC 9651, the body that of RFC 9457,
// the rest draft-ietf-httpapi-ratelimit-headers. Waits are rounded up to the second, and what
// remains is told as it is, so who does as told is never too early.
//
// What is told of a limit:
//   q, limit      the most that could ever pass at one instant: of a bucket its burst, or queue + 1
//   w             the time in which that much comes back: the window, the gap, or the time a bucket
//                 takes to fill, so that q / w is its rate and r never above q. Left out below one
//                 second, and for concurrency, whose places come back when they are released
//   qu            the unit of q, when it is not requests; of concurrency "concurrent-requests"
//   r, remaining  the largest cost that would pass now
//   t, reset      of a limit that refuses, the wait until it passes, so Retry-After is never
//                 earlier; else until the key is as if untouched. Left out when no wait can help
//   pk            the key, when it is asked for

#ifndef WEIR_HEADERS_H
#define WEIR_HEADERS_H

#include "weir/check.h"
#include "weir/decision.h"
#include "weir/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

// How what is left of a limit is told. The drafts are no standard, so the form is the caller's. All
// but the first tell of the limit that binds alone. One list makes the codes and the names.
//
//   draft_08    RateLimit-Policy: "a";q=9;w=60, "b";q=99;w=3600  and  RateLimit: "a";r=5;t=30, ...;
//               revisions 08 to 11
//   draft_07    RateLimit: limit=9, remaining=5, reset=30
//   draft_06    RateLimit-Limit: 9, RateLimit-Remaining: 5, RateLimit-Reset: 30; revisions 00 to 06
//   x_seconds   X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset in seconds from now
//   x_epoch     the same with the reset as a Unix time
//   none        Retry-After alone
#define WEIR_HEADERS_FORM_LIST(X)                                                                  \
    X(DRAFT_08, 0, "draft_08")                                                                     \
    X(DRAFT_07, 1, "draft_07")                                                                     \
    X(DRAFT_06, 2, "draft_06")                                                                     \
    X(X_SECONDS, 3, "x_seconds")                                                                   \
    X(X_EPOCH, 4, "x_epoch")                                                                       \
    X(NONE, 5, "none")

typedef enum weir_headers_form {
#define WEIR_HEADERS_FORM_CODE(name, code, text) WEIR_HEADERS_##name = code,
    WEIR_HEADERS_FORM_LIST(WEIR_HEADERS_FORM_CODE)
#undef WEIR_HEADERS_FORM_CODE
} weir_headers_form;

typedef struct weir_headers_options {
    weir_headers_form form;
    bool body;          // a refusal has a body too
    bool partition_key; // draft_08: tell the key of each check, as it is, to whoever reads the
                        // answer
    const bool *shadow; // one a check: those in shadow are not told. NULL: none is
    const char *const *units; // one a check, 1 to 64 printable ASCII characters, such as
                              // "content-bytes". NULL, or a NULL in it: requests
    int64_t now_us;           // x_epoch: the now of the decision, in Unix time. No clock is read
    uint64_t reserved[4];
} weir_headers_options;

// Both are ended by a NUL.
typedef struct weir_header {
    const char *name;
    const char *value;
    size_t value_size;
} weir_header;

#define WEIR_HEADERS_MAX  5
#define WEIR_HEADERS_TEXT 32768

// It points into itself, so a copy of it is good only as long as the original.
typedef struct weir_headers {
    int status;   // 200: go on. 429: refused. 503: refused because the store could not be asked
    size_t count; // of the list
    weir_header list[WEIR_HEADERS_MAX];
    const char *body; // NULL unless it was asked for and the request is refused
    size_t body_size;
    const char *content_type; // of the body
    uint64_t reserved[4];
    char text[WEIR_HEADERS_TEXT];
} weir_headers;

// Fills `out` from one decision and what it was made of: after take the check and no rows; after
// take_all its checks and rows; of a policy's outcome the decision, checks, rows, count and shadow.
// An outcome in which no check counts has a decision of noughts, so its `allowed` must be set first
// to the outcome's.
//
// A refusal may not be cached, and has a Retry-After of at least one second unless no wait can help
// or no check was made. A decision that was not the store's (redis.h) tells of policies, and not of
// what is left, which nobody knows. A limit that is checked with two keys is told twice, and only
// the keys tell which is which.
//
// 32 limits of any names and units always fit, and with them keys of 150 bytes each, or fewer that
// are longer. Nothing is cut: WEIR_INVALID for keys that do not fit, for a row that is no answer of
// its limit, and for options out of range.
WEIR_API weir_status weir_headers_init(weir_headers *out, const weir_decision *decision,
                                       const weir_check *checks, const weir_decision *rows,
                                       size_t count, const weir_headers_options *options,
                                       weir_error *error);

// "draft_08" and the like, or NULL for a code that is none. Static text.
WEIR_API const char *weir_headers_form_name(weir_headers_form form);

// The form of that name. WEIR_INVALID lists those there are.
WEIR_API weir_status weir_headers_form_parse(const char *name, weir_headers_form *out,
                                             weir_error *error);

#ifdef __cplusplus
}
#endif

#endif
