// From the numbers of a reply to decisions: only those that an answer can have.

#ifndef WEIR_SRC_REDIS_ROW_H
#define WEIR_SRC_REDIS_ROW_H

#include "store/redis/reply.h"
#include "store/store.h"

// One row of six. False when the reply is not the answer to this verb and check.
bool weir_row_read(const weir_reply *reply, weir_verb verb, const weir_check *check,
                   weir_decision *out);

// The reply of `all`: the joint decision and a row a check.
bool weir_rows_read(const weir_reply *reply, const weir_check *checks, size_t count,
                    weir_decision *out, weir_decision *rows);

#endif
