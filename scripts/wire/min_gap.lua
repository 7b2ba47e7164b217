--- min_gap on the wire: gap_us, count_denied; its state is the last event's instant.

local digits = require "wire.digits"
local foreign = require "wire.foreign"
local invalid = require "wire.invalid"
local natural = require "wire.natural"
local positive = require "wire.positive"
local take = require "algorithm.min_gap"

-- Parameters start at arguments[first]. Returns an error or nil, the value to keep (nil: keep
-- nothing; false: forget the key), and the row.
return function(arguments, first, state, cost, op, now)
  local gap = positive(arguments[first], 2^45)
  local count_denied = natural(arguments[first + 1], 1)
  if not (gap and count_denied) then
    return invalid(arguments, first, { "gap_us", 1, 2^45, "count_denied", 0, 1 })
  end
  local last
  if state then
    last = natural(state, 9007199254740991)
    if not last then
      return foreign("min_gap")
    end
  end
  local allowed, remaining, retry_after, reset_after
  last, allowed, remaining, retry_after, reset_after =
    take(last, gap, count_denied == 1, now, cost, op)
  local record = last
  if last then
    record = digits(last)
  end
  return nil, record, allowed, 1, remaining, retry_after, reset_after, 0
end
