--- concurrency on the wire: limit, ttl_us; its state is a sorted set of ids by the instant they lapse.

local foreign = require "wire.foreign"
local invalid = require "wire.invalid"
local natural = require "wire.natural"
local positive = require "wire.positive"
local take = require "algorithm.concurrency"
local wrong_type = require "wire.wrong_type"

local call = redis.call
local try = redis.pcall

-- Parameters start at arguments[first]. Returns an error or nil; what to keep: ttl, held, drop and
-- ahead; and the row.
return function(arguments, first, key, id, op, now)
  local limit = natural(arguments[first], 2^40)
  local ttl = positive(arguments[first + 1], 2^45)
  if not (limit and ttl) then
    return invalid(arguments, first, { "limit", 0, 2^40, "ttl_us", 1, 2^45 })
  end
  local count = try("ZCARD", key)
  if type(count) == "table" then
    return wrong_type(count.err)
  end
  local strange = false
  local function at(index)
    local lapses = tonumber(call("ZRANGE", key, index, index, "WITHSCORES")[2])
    if lapses < 0 or lapses > 2^53 or lapses % 1 > 0 then
      strange, lapses = true, 0
    end
    return lapses
  end
  local lease
  if count > 0 and id ~= "" then
    lease = tonumber(call("ZSCORE", key, id) or nil)
  end
  local held, drop, ahead, allowed, remaining, retry_after, reset_after =
    take(count, at, lease, limit, ttl, now, op)
  if strange then
    return foreign("concurrency")
  end
  return nil, ttl, held, drop, ahead, allowed, limit, remaining, retry_after, reset_after
end
