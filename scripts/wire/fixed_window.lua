--- fixed_window on the wire: limit, window_us, offset_us; its state is "start:count".

local foreign = require "wire.foreign"
local invalid = require "wire.invalid"
local natural = require "wire.natural"
local positive = require "wire.positive"
local take = require "algorithm.fixed_window"

-- Parameters start at arguments[first]. Returns an error or nil, the value to keep (nil: keep
-- nothing), and the row.
return function(arguments, first, state, cost, op, now)
  local limit = natural(arguments[first], 2^40)
  local window = positive(arguments[first + 1], 2^45)
  local offset = natural(arguments[first + 2], (window or 2^45) - 1)
  if not (limit and window and offset) then
    return invalid(arguments, first,
      { "limit", 0, 2^40, "window_us", 1, 2^45, "offset_us", 0, (window or 2^45) - 1 })
  end
  local start, count
  if state then
    -- The window of the first day of 1970 may have started before it.
    local sign, at, used = string.match(state, "^(%-?)(%d+):(%d+)$")
    start = natural(at, 9007199254740991)
    count = natural(used, 2^50)
    if not (start and count) then
      return foreign("fixed_window")
    end
    if sign == "-" then
      start = -start
    end
  end
  local allowed, remaining, retry_after, reset_after
  start, count, allowed, remaining, retry_after, reset_after =
    take(start, count, limit, window, offset, now, cost, op)
  local record
  if start then
    record = string.format("%.0f:%.0f", start, count)
  end
  return nil, record, allowed, limit, remaining, retry_after, reset_after, 0
end
