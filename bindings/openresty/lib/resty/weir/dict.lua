--- dict: the store that stands for a lua_shared_dict, for the modules that are given the name of one.
--
-- dict.store(name)    the store, opened once in each worker, or in init_by_lua for all; else nil, message, code
--
-- It is as large as the dict and named after nginx's prefix, the dict and the user who opens it: a reload finds it
-- again, and no other nginx of the machine does. Where the dict has another size now, it begins empty, as nginx's do.

local core = require "resty.weir.core"
local ffi = require "ffi"
local shared = require "resty.weir.shared"

ffi.cdef [[
uint32_t weir_effective_user(void) __asm__("geteuid");
char *weir_working_directory(char *, size_t) __asm__("getcwd");
]]

local SIZE_LEAST = 256 * 1024
local PATH_MAX = 4096

local dict = {}
local stores = {}

local function prefix()
  local given = ngx.config.prefix()
  if given:sub(1, 1) == "/" then
    return given
  end
  local here = ffi.new("char[?]", PATH_MAX)
  if ffi.C.weir_working_directory(here, PATH_MAX) == nil then
    return given
  end
  return ffi.string(here) .. "/" .. given
end

local function mapping_name(name)
  local readable = name:gsub("[^%w_.-]", "_"):sub(1, 64)
  return ("/weir-%s-%s"):format(readable, ngx.md5(("%s\0%s\0%d"):format(prefix(), name, ffi.C.weir_effective_user())))
end

local function open(name)
  local zone = type(name) == "string" and ngx.shared[name]
  if not zone then
    return core.invalid("dict_name", name, "a lua_shared_dict of the configuration")
  end
  local store, message, code = shared.open {
    name = mapping_name(name),
    size = math.max(zone:capacity(), SIZE_LEAST),
    misfit = "rebuild",
  }
  stores[name] = store
  return store, message, code
end

function dict.store(name)
  if stores[name] then
    return stores[name]
  end
  return open(name)
end

return dict
