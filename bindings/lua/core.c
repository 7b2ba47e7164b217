// weir.core: what weir.lua needs from C.

#include <lauxlib.h>

#include "headers.h"
#include "limits.h"
#include "policies.h"
#include "store.h"
#include "weir/status.h"

WEIR_API int luaopen_weir_core(lua_State *L);

int luaopen_weir_core(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"headers", headers_of}, {"memory", memory_open}, {"policy", policies_open}, {NULL, NULL}};
    luaL_checkversion(L);
    store_register(L);
    policies_register(L);
    luaL_newlib(L, functions);
    limits_push_host(L);
    lua_setfield(L, -2, "host");
    lua_pushstring(L, weir_version());
    lua_setfield(L, -2, "version");
    return 1;
}
