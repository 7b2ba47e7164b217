--- leaky_bucket: a token bucket of queue + 1, whose debt is the wait for one's turn.

local token_bucket = require "algorithm.token_bucket"

-- State as for token_bucket; the last of what it returns is delay.
return function(full_at, part, over, rate, period, queue, now, cost, op)
  local at, fraction, below, allowed, remaining, retry_after, reset_after, waiting =
    token_bucket(full_at, part, over, rate, period, queue + 1, now, cost, op)
  if allowed == 0 or op ~= "take" and op ~= "peek" then
    waiting = 0
  end
  return at, fraction, below, allowed, remaining, retry_after, reset_after, waiting
end
