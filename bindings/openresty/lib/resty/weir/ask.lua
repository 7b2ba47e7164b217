--- ask: what the store says of the request that runs, by a limiter's checks or its policy.
--
-- ask(limiter, entry)   the joint row, with `rows` and `binding`; or nil, message, code. `entry` is what is kept of the
--                       request. It gets checks, or the limits of the policy's rows; places, the checks that hold one
--                       in a concurrency limit; and of a policy responds, and request, the fields that it saw

local core = require "resty.weir.core"
local request = require "resty.weir.request"

-- A copy of the list, for it may be the caller's one for all requests. A place in a concurrency limit is held under an
-- id of the request's own, unless it has one. A hole is a check that was forgotten, and # would forget it too.
local function copy_checks(list, entry)
  local own = {}
  for i = 1, table.maxn(list) do
    local check = list[i]
    if type(check) ~= "table" then
      return core.invalid(("checks[%d]"):format(i), check, "a check, which limit(key, cost) makes")
    end
    local limit = check[1]
    if type(limit) == "table" and limit.algorithm == "concurrency" then
      entry.id = entry.id or request.id()
      check = { limit, check[2], check[3] == nil and entry.id or check[3], tag = check.tag }
      entry.places = entry.places or {}
      table.insert(entry.places, check)
    end
    own[i] = check
  end
  return own
end

-- The fields of the request are kept when the policy is to see them again at the end.
local function ask_policy(self, entry)
  local policy = self.policy
  entry.responds = policy:has_response()
  if entry.responds or self.request then
    local fields_here, wrong, code = policy:request()
    if fields_here and self.request then
      fields_here, wrong, code = self.request(fields_here), "the option request gave no fields", "WEIR_INVALID"
    end
    if not fields_here then
      return nil, wrong, code
    end
    entry.request = fields_here
  end
  local outcome, message, code = policy:decide(self.store, entry.request)
  if outcome then
    entry.checks = outcome.limits
  end
  return outcome, message, code
end

-- One check alone is its own joint decision.
local function take_one(store, check)
  local row, message, code = store:take(check[1], check[2], check[3], nil, check.tag)
  if not row then
    return nil, message, code
  end
  return {
    allowed = row.allowed,
    limit = row.limit,
    remaining = row.remaining,
    retry_after_us = row.retry_after_us,
    reset_after_us = row.reset_after_us,
    delay_us = row.delay_us,
    source = row.source,
    code = row.code,
    message = row.message,
    binding = 1,
    rows = { row },
  }
end

local function take(store, checks)
  if #checks == 1 then
    return take_one(store, checks[1])
  end
  local joint, rows, code = store:take_all(checks)
  if not joint then
    return nil, rows, code
  end
  joint.rows = rows
  return joint
end

return function(self, entry)
  if self.policy then
    return ask_policy(self, entry)
  end
  local list = self.checks(request.view)
  if type(list) ~= "table" then
    return core.invalid("checks", list, "a list of checks, which limit(key, cost) makes")
  end
  local checks, message, code = copy_checks(list, entry)
  if not checks then
    return nil, message, code
  end
  entry.checks = checks
  return take(self.store, checks)
end
