--- headers: the headers of an answer, from what a store decided. The function of weir/headers.h, through FFI.
--
-- headers.of(limit, row[, nil[, options]])    what take, peek or acquire answered
-- headers.of({ limit or check, ... }, joint, rows[, options])    what take_all answered. A row with shadow = true is
--                               not told
-- headers.of({}, { allowed = false }[, nil[, options]])    a policy's own word, without a check
-- headers.settings(options)     the options checked, for headers_c.lua
--
-- An answer is { status, headers = { name = value }, body, content_type }: 200 go on, 429 refused, 503 refused because
-- the store could not be asked. Whatever fails answers nil, message, code.
--
-- options.form            "draft_08" (default), "draft_07", "draft_06", "x_seconds", "x_epoch" or "none"
-- options.body            true: a refusal has a body too, problem details in JSON
-- options.units           what a limit counts when it is not requests, by its name: { upload = "content-bytes" }
-- options.partition_key   true: tell each key, as it is, to whoever reads the answer; needs checks, not limits
-- options.now_us          for "x_epoch": the now of the decision, such as store:now_us()

local core = require "resty.weir.core"
local ffi = require "ffi"
local headers_c = require "resty.weir.headers_c"

local CHECKS_MAX = core.CHECKS_MAX
local WHOLE_MAX = 2 ^ 53

local kinds = { form = "text", body = "flag", units = "table", partition_key = "flag", now_us = "whole" }

local function is_text(value)
  return type(value) == "string" and not value:find("\0", 1, true)
end

local function check_option(name, value)
  local kind = kinds[name]
  if not kind then
    return core.invalid("the name of an option", name, "form, body, units, partition_key or now_us")
  end
  if kind == "text" and not is_text(value) then
    return core.invalid(name, value, "text such as \"draft_08\"")
  end
  if kind == "flag" and type(value) ~= "boolean" then
    return core.invalid(name, value, "true or false")
  end
  if kind == "table" and type(value) ~= "table" then
    return core.invalid(name, value, "a table of units by the names of limits")
  end
  if kind == "whole" then
    return core.whole(value, name, core.NOW_MAX)
  end
  return true
end

local headers = {}

function headers.settings(options)
  if type(options) ~= "table" then
    return core.invalid("options", options, "a table such as { form = \"draft_08\" }")
  end
  for name, value in pairs(options) do
    local ok, message, code = check_option(name, value)
    if not ok then
      return nil, message, code
    end
  end
  for limit, unit in pairs(options.units or {}) do
    if not is_text(unit) then
      return core.invalid(("units[%q]"):format(tostring(limit)), unit, "1 to 64 printable ASCII characters")
    end
  end
  return headers_c.settings(options)
end

local default = headers.settings {}

-- The fields of a decision that are of all its checks.
local function check_verdict(row, what)
  if type(row) ~= "table" or type(row.allowed) ~= "boolean" then
    return core.invalid(what, row, "what a store answers, with `allowed`")
  end
  if not headers_c.sources[row.source or "store"] then
    return core.invalid("source of " .. what, row.source, "store, deny_on_error or allow_on_error")
  end
  if row.retry_after_us ~= -1 then
    return core.whole(row.retry_after_us, "retry_after_us", WHOLE_MAX)
  end
  return true
end

local function check_row(row)
  local ok, message, code = check_verdict(row, "row")
  for _, field in ipairs { "limit", "remaining", "reset_after_us" } do
    if ok then
      ok, message, code = core.whole(row[field], field, WHOLE_MAX)
    end
  end
  return ok, message, code
end

local function check_limit(value, what)
  local limit, key = value, nil
  if type(value) == "table" and not value.c then
    limit, key = value[1], value[2]
  end
  if type(limit) ~= "table" or not limit.c then
    return core.invalid(what, value, "a limit, or a check, which limit(key) makes")
  end
  if key ~= nil then
    return core.text(key, what .. "'s key")
  end
  return true
end

local function check_list(limits, rows)
  local count = #limits
  if count > 0 and (type(rows) ~= "table" or #rows ~= count) then
    return core.invalid("rows", rows, "a list of one row a limit")
  end
  for i = 1, count do
    local ok, message, code = check_limit(limits[i], ("limits[%d]"):format(i))
    if not ok then
      return nil, message, code
    end
    if type(rows[i]) ~= "table" or not rows[i].shadow then
      ok, message, code = check_row(rows[i])
      if not ok then
        return nil, ("rows[%d]: %s"):format(i, message), code
      end
    end
  end
  return true
end

-- Without a check a decision has no wait; of several it says which binds.
local function check_joint(decision, has_checks)
  if not has_checks and type(decision) == "table" and decision.retry_after_us == nil then
    decision = { allowed = decision.allowed, retry_after_us = 0 }
  end
  local ok, message, code = check_verdict(decision, "decision")
  if not ok then
    return nil, message, code
  end
  if decision.binding == 0 then
    return core.invalid("binding", 0, "the place of a row, from 1")
  end
  return core.whole(decision.binding or 1, "binding", CHECKS_MAX)
end

local function read_answer(filled)
  local list = {}
  for i = 0, tonumber(filled.count) - 1 do
    local header = filled.list[i]
    list[ffi.string(header.name)] = ffi.string(header.value, header.value_size)
  end
  local answer = { status = filled.status, headers = list }
  if filled.body ~= nil then
    answer.body, answer.content_type = ffi.string(filled.body, filled.body_size), ffi.string(filled.content_type)
  end
  return answer
end

function headers.of(limits, decision, rows, options)
  if type(limits) ~= "table" then
    return core.invalid("limits", limits, "a limit, or a list of limits or checks")
  end
  if limits.c then
    limits = { limits }
  end
  if rows == nil and #limits == 1 then
    rows = { decision }
  end
  local ok, message, code = check_joint(decision, #limits > 0)
  if ok then
    ok, message, code = check_list(limits, rows)
  end
  local settings
  if ok then
    settings, message, code = default, nil, nil
    if options ~= nil then
      settings, message, code = headers.settings(options)
    end
  end
  if not settings then
    return nil, message, code
  end
  local filled
  filled, message, code = headers_c.fill(limits, decision, rows, settings)
  return filled and read_answer(filled), message, code
end

return headers
