// What the vocabulary needs of its host (see lua/weir/vocabulary.lua).

#ifndef WEIR_POLICY_HOST_H
#define WEIR_POLICY_HOST_H

#include <lua.h>

// Pushes the host table. Raises.
void host_push(lua_State *L);

#endif
