--- keep_leases: ids far ahead come back to now + ttl, lapsed ones go, and this one is kept or given back.

local digits = require "wire.digits"

local call = redis.call

return function(key, id, ttl, held, drop, ahead, now, reset_after, slack)
  if ahead > 0 then
    local most = digits(now + 2 * ttl)
    local fresh = digits(now + ttl)
    for _, far in ipairs(call("ZRANGEBYSCORE", key, "(" .. most, "+inf")) do
      call("ZADD", key, fresh, far)
    end
  end
  if drop then
    local gone = digits(now)
    call("ZREMRANGEBYSCORE", key, "-inf", gone)
  end
  if held then
    local lapses = digits(held)
    call("ZADD", key, lapses, id)
  elseif held == false then
    call("ZREM", key, id)
  end
  -- The set may have gone with its last id, and PEXPIRE of nothing does nothing.
  if held ~= nil or ahead > 0 then
    local after = digits((reset_after - reset_after % 1000) / 1000 + 1 + slack)
    call("PEXPIRE", key, after)
  end
end
