--- memory: a store in the memory of one worker, for tests that need no other.

local core = require "resty.weir.core"
local ffi = require "ffi"
local store = require "resty.weir.store"

ffi.cdef [[
typedef struct weir_memory_options {
  size_t size_bytes, side_bytes; bool no_side; const void *clock; uint64_t reserved[4];
} weir_memory_options;
int weir_memory_open(weir_store **, const weir_memory_options *, weir_error *);
]]

return function(no_side)
  local out, options = ffi.new "weir_store *[1]", ffi.new "weir_memory_options"
  options.no_side = no_side or false
  local status = core.lib.weir_memory_open(out, options, core.error)
  if status ~= 0 then
    error(ffi.string(core.error.message))
  end
  return store.wrap(out[0])
end
