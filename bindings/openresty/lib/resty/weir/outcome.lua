--- outcome: a weir_outcome as a table: the joint row, and that of each check.
--
-- outcome(c, by_address)    { allowed, reason, rows, limits }, and when a check counted the joint row's fields and
--               `binding`, the place of the row that binds. Each row has name, key and shadow; one in shadow that the
--               store could not answer has `code` and `message` in place of an answer. `limits` has the limit of each
--               row, from those that are given by the address of the policy's own

local core = require "resty.weir.core"
local ffi = require "ffi"

local function row_of(outcome, i)
  local check, decision = outcome.checks[i], outcome.rows[i]
  local row
  if decision.status == 0 then
    row = core.row(decision)
  else
    local _, message, code = core.failed(decision.status)
    row = { code = code, message = message }
  end
  row.name = ffi.string(check.limit.name)
  row.key = ffi.string(check.key, check.key_size)
  row.shadow = outcome.shadow[i]
  return row
end

return function(c, by_address)
  local outcome
  if c.binding ~= nil then
    outcome = core.row(c.decision)
    outcome.binding = tonumber(c.decision.binding) + 1
  else
    outcome = { allowed = c.allowed }
  end
  if c.reason ~= nil then
    outcome.reason = ffi.string(c.reason)
  end
  local rows, limits = {}, {}
  for i = 1, tonumber(c.count) do
    rows[i] = row_of(c, i - 1)
    limits[i] = by_address[tonumber(ffi.cast("uintptr_t", c.checks[i - 1].limit))]
  end
  outcome.rows, outcome.limits = rows, limits
  return outcome
end
