// Requests, responses, checks and denials as a policy sees them.

#ifndef WEIR_POLICY_REQUEST_H
#define WEIR_POLICY_REQUEST_H

#include <lua.h>

// Prepares the metatable of handles, once for a state. Raises.
void request_open(lua_State *L);

#endif
