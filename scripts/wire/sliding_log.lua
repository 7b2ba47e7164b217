--- sliding_log on the wire: limit, window_us, count_denied; its state is a list of instants.

local foreign = require "wire.foreign"
local invalid = require "wire.invalid"
local natural = require "wire.natural"
local positive = require "wire.positive"
local quoted = require "wire.quoted"
local take = require "algorithm.sliding_log"
local wrong_type = require "wire.wrong_type"

local call = redis.call
local try = redis.pcall

-- Parameters start at arguments[first]. Returns an error or nil; what to keep: the length as it is,
-- from (nil: keep nothing), kept, added and instant; and the row.
return function(arguments, first, key, cost, op, now)
  local limit = natural(arguments[first], 2^40)
  local window = positive(arguments[first + 1], 2^45)
  local count_denied = natural(arguments[first + 2], 1)
  if not (limit and window and count_denied) then
    return invalid(arguments, first,
      { "limit", 0, 2^40, "window_us", 1, 2^45, "count_denied", 0, 1 })
  end
  local length = try("LLEN", key)
  if type(length) == "table" then
    return wrong_type(length.err)
  end
  local strange = false
  local function at(index)
    local instant = natural(call("LINDEX", key, index), 9007199254740991)
    if not instant then
      strange, instant = true, 0
    end
    return instant
  end
  local from, kept, added, instant, allowed, remaining, retry_after, reset_after =
    take(length, at, limit, window, count_denied == 1, now, cost, op)
  if strange then
    return foreign("sliding_log")
  end
  if from and added > 2^20 then
    local given = quoted(arguments[first + 3])
    return "WEIR_INVALID cost was " .. given
      .. ": sliding_log adds at most 1048576 entries a call; a sliding_counter takes any"
  end
  return nil, length, from, kept, added, instant, allowed, limit, remaining, retry_after, reset_after
end
