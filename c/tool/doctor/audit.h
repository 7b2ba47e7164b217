// audit.h: the questions that doctor asks a server, a file each.

#ifndef WEIR_TOOL_AUDIT_H
#define WEIR_TOOL_AUDIT_H

#include <hiredis.h>

#include <weir/store.h>

#include "doctor/findings.h"

// Asks with a command of words parted by single blanks.
weir_status audit_ask(weir_store *store, const char *text, redisReply **out, weir_error *error);

// What INFO and CLUSTER INFO tell: version, memory, role.
void audit_info(weir_store *store, findings *all);

// Which commands the user may run, and whether a take of each kind really works, on keys of its
// own.
void audit_rights(weir_store *store, findings *all);

// The round trip, and how far the clocks are apart.
void audit_time(weir_store *store, findings *all);

#endif
