// What the Redis scripts are given for a check: the key of its state, and its id. weir_redis sends
// these; who calls the scripts by other means, and gives them these, shares limits with it.

#ifndef WEIR_KEY_H
#define WEIR_KEY_H

#include "weir/check.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_KEY_ROOM 1024
#define WEIR_ID_ROOM  128

// Writes the key of a check that has a limit and a key:
// weir1:{<tag>}:<key>:<limit name>:<algorithm>, bytes but letters, digits and !"#$&'()*+,-./;<=>?@
// and the like written %XX, and a tag or key of more than 128 bytes as %# and its SHA-256. Always
// ended by a NUL; returns its length.
WEIR_API size_t weir_check_key(const weir_check *check, char out[WEIR_KEY_ROOM]);

// Writes the id of a check as a script for concurrency keeps it: its bytes as they are, or %# and
// their SHA-256 when they are more than 128. Not ended by a NUL; returns its length, nought when
// the check has none.
WEIR_API size_t weir_check_id(const weir_check *check, char out[WEIR_ID_ROOM]);

#ifdef __cplusplus
}
#endif

#endif
