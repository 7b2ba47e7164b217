--- clock: the server's time, or the caller's, in microseconds.

local natural = require "wire.natural"
local quoted = require "wire.quoted"

local call = redis.call

-- Returns an error or nil, now, and the milliseconds by which a TTL is longer: those of a key that
-- is fed with a caller's time run on by the server's clock.
return function(text)
  if not text then
    local time = call("TIME")
    return nil, time[1] * 1000000.0 + time[2], 0
  end
  local now = natural(text, 2^52)
  if not now then
    local given = quoted(text)
    return "WEIR_INVALID now_us was " .. given .. ", not a whole number from 0 to 4503599627370496"
  end
  return nil, now, 60000
end
