--- headers: the headers of an answer, from what a store decided. The function of weir/headers.h, through FFI.
--
-- headers.of(limit, row[, nil[, options]])    what take, peek or acquire answered
-- headers.of({ limit or check, ... }, joint, rows[, options])    what take_all answered. A row with shadow = true is
--                               not told
-- headers.of({}, { allowed = false }[, nil[, options]])    a policy's own word, without a check
-- headers.of_c(decision, checks, rows, count, shadow, options)    the same from structs; options is a table, or nil
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

ffi.cdef [[
typedef struct weir_headers_options {
  int form; bool body, partition_key; const bool *shadow; const char *const *units; int64_t now_us;
  uint64_t reserved[4];
} weir_headers_options;

typedef struct weir_header { const char *name, *value; size_t value_size; } weir_header;

typedef struct weir_headers {
  int status; size_t count; weir_header list[5]; const char *body; size_t body_size; const char *content_type;
  uint64_t reserved[4]; char text[32768];
} weir_headers;

int weir_headers_init(weir_headers *, const weir_decision *, const weir_check *, const weir_decision *rows,
                      size_t count, const weir_headers_options *, weir_error *);
int weir_headers_form_parse(const char *name, int *out, weir_error *);
]]

local lib = core.lib
local CHECKS_MAX = core.CHECKS_MAX
local WHOLE_MAX = 2 ^ 53

-- Filled and read within one call, which never yields.
local out = ffi.new "weir_headers"
local joint = ffi.new "weir_decision"
local checks = ffi.new("weir_check[?]", CHECKS_MAX)
local rows = ffi.new("weir_decision[?]", CHECKS_MAX)
local shadow = ffi.new("bool[?]", CHECKS_MAX)
local units = ffi.new("const char *[?]", CHECKS_MAX)
local given = ffi.new "weir_headers_options"
local form = ffi.new "int[1]"
local texts = {} -- the keys that checks point to

local source_codes = {}
for code, name in pairs(core.sources) do
  source_codes[name] = code
end

local known = { form = "text", body = "flag", units = "table", partition_key = "flag", now_us = "whole" }
local no_options = {}

local function read_form(name)
  if name == nil then
    form[0] = 0
    return true
  end
  if type(name) ~= "string" or name:find("\0", 1, true) then
    return core.invalid("form", name, "text such as \"draft_08\"")
  end
  local status = lib.weir_headers_form_parse(name, form, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return true
end

local function check_names(options)
  if type(options) ~= "table" then
    return core.invalid("options", options, "a table such as { form = \"draft_08\" }")
  end
  for name, value in pairs(options) do
    local kind = known[name]
    if not kind then
      return core.invalid("the name of an option", name, "form, body, units, partition_key or now_us")
    end
    if kind == "flag" and type(value) ~= "boolean" then
      return core.invalid(name, value, "true or false")
    end
    if kind == "table" and type(value) ~= "table" then
      return core.invalid(name, value, "a table of units by the names of limits")
    end
  end
  return true
end

-- Reads options but units into `given`.
local function read_options(options)
  local ok, message, code = check_names(options)
  if not ok then
    return nil, message, code
  end
  ok, message, code = read_form(options.form)
  if not ok then
    return nil, message, code
  end
  local now_us
  now_us, message, code = core.whole(options.now_us == nil and 0 or options.now_us, "now_us", core.NOW_MAX)
  if not now_us then
    return nil, message, code
  end
  given.form, given.now_us = form[0], now_us
  given.body, given.partition_key = options.body or false, options.partition_key or false
  return true
end

-- The texts live as long as the table of options.
local function read_units(from, list, count)
  if not from then
    given.units = nil
    return true
  end
  for i = 0, count - 1 do
    local name = ffi.string(list[i].limit.name)
    local unit = from[name]
    if unit ~= nil and (type(unit) ~= "string" or unit:find("\0", 1, true)) then
      return core.invalid(("units[%q]"):format(name), unit, "1 to 64 printable ASCII characters")
    end
    units[i] = unit
  end
  given.units = units
  return true
end

local function answer()
  local list = {}
  for i = 0, tonumber(out.count) - 1 do
    local header = out.list[i]
    list[ffi.string(header.name)] = ffi.string(header.value, header.value_size)
  end
  local made = { status = out.status, headers = list }
  if out.body ~= nil then
    made.body, made.content_type = ffi.string(out.body, out.body_size), ffi.string(out.content_type)
  end
  return made
end

local headers = {}

function headers.of_c(decision, list, own, count, in_shadow, options)
  options = options or no_options
  local ok, message, code = read_options(options)
  if ok then
    ok, message, code = read_units(options.units, list, count)
  end
  if not ok then
    return nil, message, code
  end
  given.shadow = in_shadow
  local status = lib.weir_headers_init(out, decision, list, own, count, given, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return answer()
end

-- The fields of a decision that are of all its checks.
local function read_verdict(to, row, what)
  if type(row) ~= "table" or type(row.allowed) ~= "boolean" then
    return core.invalid(what, row, "what a store answers, with `allowed`")
  end
  local source = source_codes[row.source or "store"]
  if not source then
    return core.invalid("source of " .. what, row.source, "store, deny_on_error or allow_on_error")
  end
  local wait = row.retry_after_us
  if wait ~= -1 then
    local whole, message, code = core.whole(wait, "retry_after_us", WHOLE_MAX)
    if not whole then
      return nil, message, code
    end
  end
  to.allowed, to.source, to.retry_after_us, to.status, to.binding = row.allowed, source, wait, 0, 0
  return true
end

local function read_row(to, row, what)
  local ok, message, code = read_verdict(to, row, what)
  if not ok then
    return nil, message, code
  end
  local limit, remaining, reset
  limit, message, code = core.whole(row.limit, "limit", WHOLE_MAX)
  if limit then
    remaining, message, code = core.whole(row.remaining, "remaining", WHOLE_MAX)
  end
  if remaining then
    reset, message, code = core.whole(row.reset_after_us, "reset_after_us", WHOLE_MAX)
  end
  if not reset then
    return nil, message, code
  end
  to.limit, to.remaining, to.reset_after_us = limit, remaining, reset
  return true
end

local function read_check(to, value, place)
  local what = ("limits[%d]"):format(place)
  local limit, key = value, nil
  if type(value) == "table" and not value.c then
    limit, key = value[1], value[2]
  end
  if type(limit) ~= "table" or not limit.c then
    return core.invalid(what, value, "a limit, or a check, which limit(key) makes")
  end
  to.limit, to.key, to.key_size = limit.c, nil, 0
  if key == nil then
    return true
  end
  local text, message, code = core.text(key, what .. "'s key")
  if not text then
    return nil, message, code
  end
  texts[place] = text
  to.key, to.key_size = texts[place], #text
  return true
end

-- A row in shadow may be without an answer, and is not told.
local function read_list(limits, own)
  local count = #limits
  if count > CHECKS_MAX then
    return core.invalid("the number of limits", count, "at most " .. CHECKS_MAX)
  end
  if count > 0 and (type(own) ~= "table" or #own ~= count) then
    return core.invalid("rows", own, "a list of one row a limit")
  end
  for i = 1, count do
    local ok, message, code = read_check(checks[i - 1], limits[i], i)
    if not ok then
      return nil, message, code
    end
    shadow[i - 1] = type(own[i]) == "table" and own[i].shadow == true
    if not shadow[i - 1] then
      ok, message, code = read_row(rows[i - 1], own[i], "row")
      if not ok then
        return nil, ("rows[%d]: %s"):format(i, message), code
      end
    end
  end
  return count
end

-- Without a check a decision has no wait; of several it says which binds.
local function read_joint(decision, has_checks)
  if not has_checks and type(decision) == "table" and decision.retry_after_us == nil then
    decision = { allowed = decision.allowed, retry_after_us = 0 }
  end
  local ok, message, code = read_verdict(joint, decision, "decision")
  if not ok then
    return nil, message, code
  end
  local binding = decision.binding or 1
  binding, message, code = core.whole(binding, "binding", CHECKS_MAX)
  if not binding then
    return nil, message, code
  end
  joint.binding = binding < 1 and CHECKS_MAX or binding - 1
  return true
end

function headers.of(limits, decision, own, options)
  if type(limits) ~= "table" then
    return core.invalid("limits", limits, "a limit, or a list of limits or checks")
  end
  if limits.c then
    limits = { limits }
  end
  local ok, message, code = read_joint(decision, #limits > 0)
  if not ok then
    return nil, message, code
  end
  if own == nil and #limits == 1 then
    own = { decision }
  end
  local count
  count, message, code = read_list(limits, own)
  if not count then
    return nil, message, code
  end
  return headers.of_c(joint, checks, rows, count, shadow, options)
end

return headers
