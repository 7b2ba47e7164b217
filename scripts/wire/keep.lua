--- keep: one SET with its TTL.

local digits = require "wire.digits"

local call = redis.call

return function(key, record, reset_after, slack)
  local ttl = digits((reset_after - reset_after % 1000) / 1000 + 1 + slack)
  call("SET", key, record, "PX", ttl)
end
