// weir.headers: the headers of an answer, from what a store decided.

#ifndef WEIR_LUA_HEADERS_H
#define WEIR_LUA_HEADERS_H

#include <lua.h>

int headers_of(lua_State *L);

#endif
