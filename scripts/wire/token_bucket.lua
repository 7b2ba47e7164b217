--- token_bucket on the wire: rate, period_us, burst.

local fill = require "wire.fill"
local invalid = require "wire.invalid"
local natural = require "wire.natural"
local positive = require "wire.positive"
local read_bucket = require "wire.read_bucket"
local take = require "algorithm.token_bucket"
local write_bucket = require "wire.write_bucket"

-- Parameters start at arguments[first]. Returns an error or nil, the value to keep (nil: keep
-- nothing), and the row.
return function(arguments, first, state, cost, op, now)
  local rate = positive(arguments[first], 2^40)
  local period = positive(arguments[first + 1], 2^45)
  local burst = natural(arguments[first + 2], 2^43)
  if not (rate and period and burst) then
    return invalid(arguments, first, { "rate", 1, 2^40, "period_us", 1, 2^45, "burst", 0, 2^43 })
  end
  local long = fill(rate, period, burst, "burst", arguments[first + 2])
  if long then
    return long
  end
  local wrong, full_at, part, over = read_bucket(state, "token_bucket")
  if wrong then
    return wrong
  end
  local allowed, remaining, retry_after, reset_after
  full_at, part, over, allowed, remaining, retry_after, reset_after =
    take(full_at, part, over, rate, period, burst, now, cost, op)
  local record
  if full_at then
    record = write_bucket(full_at, part, over)
  end
  return nil, record, allowed, burst, remaining, retry_after, reset_after, 0
end
