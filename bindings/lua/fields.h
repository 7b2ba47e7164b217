// The fields of a request or response, from a table.

#ifndef WEIR_LUA_FIELDS_H
#define WEIR_LUA_FIELDS_H

#include <lua.h>

#include "weir/policy.h"

typedef struct fields {
    weir_field *list; // memory that lies on the stack
    size_t count;
    size_t room;
} fields;

// Pushes the memory for a list of the fields of the table at index. Raises when it is no table.
fields fields_room(lua_State *L, int index, const char *what);

// Fills the list with all fields but `time`, as pointers into the table: until it is used nothing
// may run Lua or take memory of it. Raises for a field that is neither text nor a number.
void fields_read(lua_State *L, int index, const char *what, fields *out);

#endif
