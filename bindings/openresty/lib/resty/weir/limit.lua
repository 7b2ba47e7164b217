--- limit: the words that make limits, checked by libweir. The same as in a policy.
--
-- A limit has name, algorithm, limit (the most at one instant) and c, its weir_limit, which it keeps alive.
-- limit(key[, cost or id]) is a check for take_all and take_many: { limit, key, cost or id }, which a store reads.

local core = require "resty.weir.core"
local ffi = require "ffi"

local lib = core.lib
local Limit = {}
Limit.__index = Limit
local number = ffi.new "int64_t[2]"
local code = ffi.new "int[1]"

function Limit.__call(limit, key, cost)
  return { limit, key, cost }
end

function Limit.__tostring(limit)
  return ('%s "%s"'):format(limit.algorithm, limit.name)
end

local fields = { "rate", "period_us", "burst", "queue", "limit", "window_us", "offset_us", "slots", "gap_us", "ttl_us" }

local function wrong()
  return nil, ffi.string(core.error.message)
end

local host = {}

function host.limit(given)
  if given.shadow then
    return nil, "shadow was true; only a policy has limits in shadow"
  end
  if given.name:find("\0", 1, true) then
    return nil, "name has a NUL; it must be 1 to 64 printable ASCII characters"
  end
  local options = ffi.new "weir_limit_options"
  options.name, options.strict, options.count_denied = given.name, given.strict or false, given.count_denied or false
  for _, field in ipairs(fields) do
    local value = given[field] or 0
    if value > core.COST_MAX * 2 ^ 8 then
      return nil, ("%s was %.14g; it must be at most 2^40"):format(field, value)
    end
    options[field] = value
  end
  if given.burst == 0 then
    options.burst = -1 -- a burst that is given as nought means it
  end
  local limit = ffi.new "weir_limit"
  if lib.weir_algorithm_parse(given.algorithm, code, core.error) ~= 0 then
    return wrong()
  end
  options.algorithm = code[0]
  if lib.weir_limit_init(limit, options, core.error) ~= 0 then
    return wrong()
  end
  return setmetatable({
    name = given.name,
    algorithm = given.algorithm,
    limit = tonumber(limit.most),
    c = limit,
  }, Limit)
end

function host.duration(text, field)
  if lib.weir_duration_parse(text, field, number, core.error) ~= 0 then
    return wrong()
  end
  return tonumber(number[0])
end

function host.rate(text, field)
  if lib.weir_rate_parse(text, field, number, number + 1, core.error) ~= 0 then
    return wrong()
  end
  return tonumber(number[0]), tonumber(number[1])
end

return require "weir.vocabulary"(host)
