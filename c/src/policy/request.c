// request.NAME and response.NAME: a policy is handed the fields that it reads, and no others.

#include "request.h"

#include <math.h>
#include <string.h>

#include "handle.h"
#include "instance.h"

// A number that is whole is handed over as an integer, so that it is exact as key or cost.
static int push_number(lua_State *L, double number)
{
    if (fabs(number) < 0x1p53 && number == floor(number)) {
        lua_pushinteger(L, (lua_Integer)number);
    } else {
        lua_pushnumber(L, number);
    }
    return 1;
}

static int push_text(lua_State *L, const weir_field *field)
{
    const source_terms *terms = &instance_of(L)->source->terms;
    size_t size = field->text_size;
    if (size > terms->field_bytes) {
        if (!terms->cut_fields) {
            return luaL_error(L, "field '%s' has %I bytes; a policy may read %I", field->name,
                              (LUAI_UACINT)size, (LUAI_UACINT)terms->field_bytes);
        }
        size = terms->field_bytes;
    }
    lua_pushlstring(L, field->text, size);
    return 1;
}

static int push_field(lua_State *L, const weir_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].name[0] != name[0] || strcmp(fields[i].name, name) != 0) {
            continue;
        }
        if (fields[i].is_number) {
            return push_number(L, fields[i].number);
        }
        if (fields[i].text != NULL) {
            return push_text(L, &fields[i]);
        }
        break;
    }
    lua_pushnil(L);
    return 1;
}

static int push_of_request(lua_State *L, instance *in, const char *name)
{
    if (strcmp(name, "time") == 0) {
        lua_pushinteger(L, instance_now_us(in));
        return 1;
    }
    const weir_request *request = in->subject.request;
    return push_field(L, request->fields, request->count, name);
}

static int push_of_response(lua_State *L, const instance *in, const char *name)
{
    if (strcmp(name, "allowed") == 0) {
        lua_pushboolean(L, in->subject.allowed);
        return 1;
    }
    return push_field(L, in->subject.response, in->subject.response_count, name);
}

static int handle_index(lua_State *L)
{
    instance *in = instance_of(L);
    const void *handle = lua_touserdata(L, 1);
    if (handle_call(handle) != in->call) {
        return luaL_error(L, "a request can't be read after its call");
    }
    if (lua_type(L, 2) != LUA_TSTRING) {
        lua_pushnil(L);
        return 1;
    }
    const char *name = lua_tostring(L, 2);
    switch (handle_part(handle)) {
    case HANDLE_REQUEST:
        return push_of_request(L, in, name);
    case HANDLE_RESPONSE:
        return push_of_response(L, in, name);
    default:
        return luaL_error(L, "a check has no fields; the policy returns it");
    }
}

static int handle_newindex(lua_State *L)
{
    return luaL_error(L, "a request can't be changed");
}

void request_open(lua_State *L)
{
    static const luaL_Reg handle_methods[] = {
        {"__index", handle_index}, {"__newindex", handle_newindex}, {NULL, NULL}};
    lua_pushlightuserdata(L, NULL);
    luaL_newlib(L, handle_methods);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
