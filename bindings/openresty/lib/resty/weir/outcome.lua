--- outcome: a weir_outcome as a table: the joint row, and that of each check.
--
-- outcome(c)    { allowed, reason, rows }, and when a check counted the joint row's fields and `binding`, the place of
--               the row that binds. Each row has name, key and shadow; one in shadow that the store could not answer
--               has `code` and `message` in place of an answer

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

return function(c)
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
  local rows = {}
  for i = 1, tonumber(c.count) do
    rows[i] = row_of(c, i - 1)
  end
  outcome.rows = rows
  return outcome
end
