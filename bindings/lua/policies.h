// Policies: weir.policy and the methods of what it gives.

#ifndef WEIR_LUA_POLICIES_H
#define WEIR_LUA_POLICIES_H

#include <lua.h>

int policies_open(lua_State *L);
void policies_register(lua_State *L);

#endif
