--- keep_log: entries go from the ends of the list only, and the TTL is set in the same run.

local digits = require "wire.digits"

local call = redis.call

local spread = unpack or table.unpack

return function(key, length, from, kept, added, instant, reset_after, slack)
  if kept == 0 and length > 0 then
    call("LTRIM", key, 1, 0)
  elseif kept < length then
    call("LTRIM", key, from, from + kept - 1)
  end
  if added > 0 then
    local text = digits(instant)
    local left = added
    if left == 1 then
      call("RPUSH", key, text)
      left = 0
    end
    -- Lua unpacks no more than 7,999 values.
    while left > 0 do
      local piece = {}
      for index = 1, math.min(left, 7000) do
        piece[index] = text
      end
      call("RPUSH", key, spread(piece))
      left = left - #piece
    end
  end
  if kept + added > 0 then
    local ttl = digits((reset_after - reset_after % 1000) / 1000 + 1 + slack)
    call("PEXPIRE", key, ttl)
  end
end
