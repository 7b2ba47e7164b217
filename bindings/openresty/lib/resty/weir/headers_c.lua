--- headers_c: weir_headers_init, for rows that a store of weir made: they are not checked again.
--
-- headers_c.fill(limits, joint, rows, settings)   the weir_headers, good until the next call; else nil, message, code.
--                        `limits` are those of the rows, or their checks
-- headers_c.settings(options)    the settings of options that are checked, but for the form; else nil, message, code
-- headers_c.sources      the library's number of who decided, by its name in a row
--
-- What is not of its type raises.

local core = require "resty.weir.core"
local each = require "resty.weir.each"
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

-- Filled and read within one call, which never yields.
local out = ffi.new "weir_headers"
local joint_c = ffi.new "weir_decision"
local checks = ffi.new("weir_check[?]", CHECKS_MAX)
local rows_c = ffi.new("weir_decision[?]", CHECKS_MAX)
local shadow = ffi.new("bool[?]", CHECKS_MAX)
local units = ffi.new("const char *[?]", CHECKS_MAX)
local form = ffi.new "int[1]"
local texts = {} -- the keys that checks point to

local headers_c = { sources = {} }
local sources = headers_c.sources
for code, name in pairs(core.sources) do
  sources[name] = code
end

function headers_c.settings(options)
  local status = lib.weir_headers_form_parse(options.form or "draft_08", form, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  local c = ffi.new "weir_headers_options"
  c.form, c.shadow, c.units, c.now_us = form[0], shadow, options.units and units, options.now_us or 0
  c.body, c.partition_key = options.body or false, options.partition_key or false
  return { c = c, units = options.units, partition_key = options.partition_key }
end

local function fill_key(to, place, key)
  texts[place] = core.text(key)
  to.key, to.key_size = texts[place], texts[place] and #texts[place] or 0
end

local function fill_verdict(to, row)
  to.allowed, to.source, to.retry_after_us = row.allowed, sources[row.source or "store"], row.retry_after_us or 0
end

-- A row in shadow may be without an answer, and is not told.
local function fill_one(i, limits, rows, settings)
  local limit, row, key = limits[i], rows[i], nil
  if not limit.c then
    limit, key = limit[1], limit[2]
  end
  checks[i - 1].limit, shadow[i - 1] = limit.c, row.shadow or false
  if settings.partition_key then
    fill_key(checks[i - 1], i, key)
  end
  if settings.units then
    units[i - 1] = settings.units[limit.name]
  end
  if row.shadow then
    return true
  end
  local to = rows_c[i - 1]
  fill_verdict(to, row)
  to.limit, to.remaining, to.reset_after_us = row.limit, row.remaining, row.reset_after_us
  return true
end

function headers_c.fill(limits, joint, rows, settings)
  local count = #limits
  if count > CHECKS_MAX then
    return core.invalid("the number of limits", count, "at most " .. CHECKS_MAX)
  end
  each(1, count, fill_one, limits, rows, settings)
  fill_verdict(joint_c, joint)
  joint_c.binding = (joint.binding or 1) - 1
  local status = lib.weir_headers_init(out, joint_c, checks, rows_c, count, settings.c, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return out
end

return headers_c
