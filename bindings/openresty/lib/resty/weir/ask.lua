--- ask: what the store says of the request that runs, by a limiter's checks or its policy.
--
-- ask(limiter, entry)   the joint row, with `rows` and `binding`; or nil, message, code. `entry` is what is kept of the
--                       request. It gets checks, or the limits of the policy's rows; places, the checks that hold one
--                       in a concurrency limit; and of a policy responds, and request, the fields that it saw

local core = require "resty.weir.core"
local each = require "resty.weir.each"
local request = require "resty.weir.request"

-- A place in a concurrency limit is held under an id of the request's own, unless the check has one.
local function add_check(own, check, entry)
  local limit = check[1]
  if type(limit) == "table" and limit.algorithm == "concurrency" then
    entry.id = entry.id or request.id()
    check = { limit, check[2], check[3] == nil and entry.id or check[3], tag = check.tag }
    entry.places = entry.places or {}
    table.insert(entry.places, check)
  end
  own[#own + 1] = check
  return true
end

local function add_limit(i, own, self, key, entry)
  return add_check(own, self.limits[i](key), entry)
end

local function add_given(i, own, list, entry)
  local check = list[i]
  if type(check) ~= "table" then
    return core.invalid(("checks[%d]"):format(i), check, "a check, which limit(key, cost) makes")
  end
  return add_check(own, check, entry)
end

-- Adds the checks that the caller's function gives. They are copied, for its list may be one for all requests; a hole
-- is a check that was forgotten, and # would forget it too.
local function add_all_given(own, self, entry)
  local list = self.checks(request.view)
  if type(list) ~= "table" then
    return core.invalid("checks", list, "a list of checks, which limit(key, cost) makes")
  end
  return each(1, table.maxn(list), add_given, own, list, entry)
end

local function add_all_limits(own, self, entry)
  return each(1, #self.limits, add_limit, own, self, self.key(request.view), entry)
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

-- One check alone is its own joint decision; what a joint row has beside is made when somebody asks for it.
local Alone = {}

function Alone.__index(row, name)
  if name == "binding" then
    return 1
  end
  return name == "rows" and { row } or nil
end

local function take_one(store, limit, key, cost, tag)
  local row, message, code = store:take(limit, key, cost, nil, tag)
  if not row then
    return nil, message, code
  end
  return setmetatable(row, Alone)
end

local function take(store, checks)
  if #checks == 1 then
    local check = checks[1]
    return take_one(store, check[1], check[2], check[3], check.tag)
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
  local alone = self.alone
  if alone then
    return take_one(self.store, alone, self.key(request.view))
  end
  local checks, add_all = {}, self.limits and add_all_limits or add_all_given
  local ok, message, code = add_all(checks, self, entry)
  if not ok then
    return nil, message, code
  end
  entry.checks = checks
  return take(self.store, checks)
end
