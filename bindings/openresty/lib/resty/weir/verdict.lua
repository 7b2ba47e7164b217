--- verdict: does what a policy said with a store whose verbs are functions of Lua, and may yield.
--
-- verdict.copy(said, limits)           what a weir_verdict says, in Lua's own memory
-- verdict.take(store, said)            the outcome; else nil, message, code
-- verdict.copy_settlement(asked, limits)    the same of a weir_settlement
-- verdict.settle(store, asked)         true; else nil, message, code of the first that failed
--
-- `limits` gives the limit of a weir_limit by its address. Once copied, nothing here depends on the policy, which other
-- requests use meanwhile. The rules are those of weir_runner_decide and weir_runner_respond.

local ffi = require "ffi"

local verdict = {}

local verbs = { [0] = "refund", "charge", "release" }

-- { limit, key, cost or id }, as limit(key, cost) makes them.
local function copy_check(check, limits)
  local last = check.id ~= nil and ffi.string(check.id, check.id_size) or nil
  local limit = limits[tonumber(ffi.cast("uintptr_t", check.limit))]
  return { limit, ffi.string(check.key, check.key_size), last or tonumber(check.cost) }
end

local function copy_time(time_us)
  return time_us ~= 0 and tonumber(time_us) or nil
end

function verdict.copy(said, limits)
  local copied = {
    allowed = not said.refused,
    reason = said.reason ~= nil and ffi.string(said.reason) or nil,
    time_us = copy_time(said.time_us),
    checks = {},
    shadow = {},
  }
  for i = 1, tonumber(said.count) do
    copied.checks[i] = copy_check(said.checks[i - 1], limits)
    copied.shadow[i] = said.shadow[i - 1]
  end
  return copied
end

-- The joint row and a list of rows. One check alone is its own joint decision.
local function take_together(store, checks, time_us)
  if #checks > 1 then
    return store:take_all(checks, time_us)
  end
  local check = checks[1]
  local row, message, code = store:take(check[1], check[2], check[3], time_us)
  if not row then
    return nil, message, code
  end
  local joint = {}
  for name, value in pairs(row) do
    joint[name] = value
  end
  joint.binding = 1
  return joint, { row }
end

local function peek_each(store, checks, time_us)
  local rows = {}
  for i, check in ipairs(checks) do
    local row, message, code = store:peek(check[1], check[2], check[3], time_us)
    rows[i] = row or { code = code, message = message }
  end
  return rows
end

-- A check in shadow never fails the call: what else was taken stands already. Its row says so.
local function try_shadows(store, checks, time_us, passed)
  if #checks == 0 then
    return {}
  end
  if not passed then
    return peek_each(store, checks, time_us)
  end
  local rows, message, code = store:take_many(checks, time_us)
  if rows then
    return rows
  end
  rows = {}
  for i = 1, #checks do
    rows[i] = { code = code, message = message }
  end
  return rows
end

-- The checks that count or those in shadow, and the place of each.
local function pick(said, shadow)
  local checks, places = {}, {}
  for i, check in ipairs(said.checks) do
    if said.shadow[i] == shadow then
      checks[#checks + 1] = check
      places[#places + 1] = i
    end
  end
  return checks, places
end

local function place_rows(said, rows, own, places)
  for i, at in ipairs(places) do
    local row = own[i]
    row.name, row.key, row.shadow = said.checks[at][1].name, said.checks[at][2], said.shadow[at]
    rows[at] = row
  end
end

function verdict.take(store, said)
  local outcome, rows = { allowed = said.allowed, reason = said.reason }, {}
  local counted, places = pick(said, false)
  if #counted > 0 then
    local own, code
    outcome, own, code = take_together(store, counted, said.time_us)
    if not outcome then
      return nil, own, code
    end
    outcome.binding = places[outcome.binding]
    place_rows(said, rows, own, places)
  end
  local shadows, shadow_places = pick(said, true)
  place_rows(said, rows, try_shadows(store, shadows, said.time_us, outcome.allowed), shadow_places)
  outcome.rows, outcome.limits = rows, {}
  for i, check in ipairs(said.checks) do
    outcome.limits[i] = check[1]
  end
  return outcome
end

function verdict.copy_settlement(asked, limits)
  local copied = { time_us = copy_time(asked.time_us), checks = {}, verbs = {} }
  for i = 1, tonumber(asked.count) do
    copied.checks[i] = copy_check(asked.checks[i - 1], limits)
    copied.verbs[i] = verbs[asked.verbs[i - 1]]
  end
  return copied
end

function verdict.settle(store, asked)
  local first_message, first_code
  for i, check in ipairs(asked.checks) do
    local row, message, code = store[asked.verbs[i]](store, check[1], check[2], check[3], asked.time_us)
    if not row and not first_code then
      first_message, first_code = message, code
    end
  end
  if first_code then
    return nil, first_message, first_code
  end
  return true
end

return verdict
