--- traffic: several limiters for one request, with the interface of resty.limit.traffic.
--
-- traffic.combine(limiters, keys[, states])    the longest delay in seconds, and what each limiter says of itself in
--                                              states; or nil, "rejected", the seconds until all would pass; or nil,
--                                              message, code
--
-- Limiters of one dict are decided in one step: all record or none does. Where they are of several dicts, or some are
-- not weir's, all are asked first, then each records, and what was recorded is given back when one refuses after all.

local conn = require "resty.weir.conn"
local core = require "resty.weir.core"
local count = require "resty.weir.count"
local req = require "resty.weir.req"

local ours = { [conn] = true, [count] = true, [req] = true }

-- The store that all limiters live in, or nil.
local function common_store(limiters)
  local store
  for _, limiter in ipairs(limiters) do
    if not ours[getmetatable(limiter)] or store and limiter.store ~= store then
      return nil
    end
    store = limiter.store
  end
  return store
end

local function in_one_step(store, limiters, keys, states)
  local checks = {}
  for i, limiter in ipairs(limiters) do
    local check, message, code = limiter:check(keys[i])
    if not check then
      return nil, message, code
    end
    checks[i] = check
  end
  local joint, rows, code = store:take_all(checks)
  if not joint then
    return nil, rows, code
  end
  if not joint.allowed then
    return nil, "rejected", joint.retry_after_us / 1e6
  end
  local longest = 0
  for i, limiter in ipairs(limiters) do
    local delay, state = limiter:read(rows[i])
    longest = math.max(longest, delay)
    states[i] = state
  end
  return longest
end

local function one_by_one(limiters, keys, states)
  for i, limiter in ipairs(limiters) do
    local delay, why, third = limiter:incoming(keys[i], false)
    if not delay then
      return nil, why, third
    end
  end
  local longest, found = 0, {}
  for i, limiter in ipairs(limiters) do
    local delay, state, third = limiter:incoming(keys[i], true)
    if not delay then
      for j = i - 1, 1, -1 do
        limiters[j]:uncommit(keys[j])
      end
      return nil, state, third
    end
    longest, found[i] = math.max(longest, delay), state
  end
  for i = 1, #limiters do
    states[i] = found[i]
  end
  return longest
end

-- A list with a hole, of a limiter that could not be made or a key that is missing, must not pass as a shorter one.
local function check_lists(limiters, keys)
  if type(limiters) ~= "table" or #limiters < 1 then
    return core.invalid("limiters", limiters, "a list of one limiter or more")
  end
  if type(keys) ~= "table" or #keys ~= #limiters then
    return core.invalid("keys", keys, ("a list of %d keys, one a limiter"):format(#limiters))
  end
  for i = 1, #limiters do
    if type(limiters[i]) ~= "table" then
      return core.invalid(("limiters[%d]"):format(i), limiters[i], "a limiter")
    end
    if keys[i] == nil then
      return core.invalid(("keys[%d]"):format(i), keys[i], "text or a whole number")
    end
  end
  return true
end

local traffic = {}

function traffic.combine(limiters, keys, states)
  local ok, message, code = check_lists(limiters, keys)
  if not ok then
    return nil, message, code
  end
  local store = common_store(limiters)
  if store then
    return in_one_step(store, limiters, keys, states or {})
  end
  return one_by_one(limiters, keys, states or {})
end

return traffic
