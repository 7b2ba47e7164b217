--- policy_limits: the limits of a policy as it was last loaded.
--
-- policy_limits.list(lib, policy)          a list of { name, algorithm, limit, shadow }
-- policy_limits.by_address(lib, policy)    each as stores take it, by the address of the policy's own

local core = require "resty.weir.core"
local ffi = require "ffi"

local limits, shadow = ffi.new "const weir_limit *const *[1]", ffi.new "const bool *[1]"

local function count_limits(lib, policy)
  return tonumber(lib.weir_policy_limits(policy, limits, shadow))
end

local function read_limit(c)
  return {
    name = ffi.string(c.name),
    algorithm = ffi.string(core.lib.weir_algorithm_name(c.algorithm)),
    limit = tonumber(c.most),
  }
end

local policy_limits = {}

function policy_limits.list(lib, policy)
  local list = {}
  for i = 1, count_limits(lib, policy) do
    list[i] = read_limit(limits[0][i - 1])
    list[i].shadow = shadow[0][i - 1]
  end
  return list
end

-- Each has a copy, since the policy's own go with a reload and a request may be waiting for a store then.
function policy_limits.by_address(lib, policy)
  local by_address = {}
  for i = 1, count_limits(lib, policy) do
    local own = limits[0][i - 1]
    local limit = read_limit(own)
    limit.c = ffi.new("weir_limit", own[0])
    by_address[tonumber(ffi.cast("uintptr_t", own))] = limit
  end
  return by_address
end

return policy_limits
