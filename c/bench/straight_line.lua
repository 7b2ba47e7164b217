-- A token bucket by hand, as short as its answers allow: what the bundled one is measured against.
--
-- Only take, and only rates whose interval is whole microseconds; there it answers the same.

local call, find, format = redis.call, string.find, string.format
local key, rate, period, burst, cost = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4] or "1"
if not (rate and find(rate, "^[1-9]%d*$") and period and find(period, "^[1-9]%d*$")
  and burst and find(burst, "^[1-9]%d*$") and find(cost, "^[1-9]%d*$")) then
  return { err = "WEIR_INVALID" }
end
rate, period, burst, cost = rate + 0, period + 0, burst + 0, cost + 0
if rate > 2^40 or period > 2^45 or burst > 2^43 or cost > 2^43 or burst * period > 2^50 * rate
  or period % rate > 0 or ARGV[5] then
  return { err = "WEIR_INVALID" }
end
local time = call("TIME")
local now = time[1] * 1000000 + time[2]
local state = redis.pcall("GET", key)
local interval = period / rate
local span, need, debt, record = burst * interval, cost * interval, 0, false
if state then
  if state.err or not find(state, "^[1-9]%d*$") then
    return { err = "WEIR_STATE" }
  end
  local full_at = state + 0
  if full_at > now then
    debt = full_at - now
    if debt > 2 * span then
      debt, record = span, true
    end
  end
end
local allowed, retry_after = 1, 0
if cost > burst then
  allowed, retry_after = 0, -1
elseif debt + need > span then
  allowed, retry_after = 0, debt + need - span
else
  debt, record = debt + need, true
end
if record then
  local full_at = now + debt
  local low = full_at % 1000000000
  call("SET", key, format("%d%09d", (full_at - low) / 1000000000, low), "PX", format("%d", debt / 1000 + 1))
end
local left = span - debt
if left < 0 then
  left = 0
end
return { allowed, burst, (left - left % interval) / interval, retry_after, debt, 0 }
