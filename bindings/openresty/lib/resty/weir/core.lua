--- core: libweir in LuaJIT. Its structs, how it is found, and how what it says becomes Lua.
--
-- core.version                  the library's, such as "0.1.0"
-- core.lib                      the library; it holds no Lua of its own
-- core.find(name)               the path of a library of weir: where package.cpath says, else the loader's own places
-- core.text(value, field)       bytes from text or a whole number; else nil, message, code
-- core.whole(value, field, most)    a whole number from 0 to most; else nil, message, code
-- core.numbers { { value, field, least, most }, ... }    true when each is a number in its bounds; else nil, message,
--                               code of the first that is not
-- core.check(out, limit, key, cost)     fills a weir_check; gives the texts that it points to, which must live as long.
--                               Else nil, message, code
-- core.checks(list, read)       how many checks there are, when read(i, check) was true of each; else nil, ...
-- core.now(now_us)              the caller's time, 0 for the store's clock; else nil, message, code
-- core.failed(status, err)      nil, message, code, of a call that did not answer WEIR_OK
-- core.row(decision)            a row as a table of numbers
-- core.sources                  who decided, by the library's code, as a row says it
-- core.invalid(field, value, wanted)    nil, message, "WEIR_INVALID"

local ffi = require "ffi"

ffi.cdef [[
typedef struct weir_error { int status; char message[508]; } weir_error;

typedef struct weir_limit_options {
  const char *name; int algorithm;
  int64_t rate, period_us, burst, queue;
  int64_t limit, window_us, offset_us, slots; bool strict;
  int64_t gap_us; bool count_denied;
  int64_t ttl_us;
  uint64_t reserved[4];
} weir_limit_options;

typedef struct weir_limit {
  uint64_t id; int algorithm; bool strict, count_denied, wide;
  int64_t most, rate, period, span_us, window_us, offset_us, slots, slot_us; double share; uint32_t span_packed;
  char name[65]; uint64_t reserved[4];
} weir_limit;

typedef struct weir_check {
  const weir_limit *limit; const char *key; size_t key_size; int64_t cost;
  const char *id; size_t id_size; const char *tag; size_t tag_size;
} weir_check;

typedef struct weir_decision {
  bool allowed; int status; size_t binding;
  int64_t limit, remaining, retry_after_us, reset_after_us, delay_us;
  int source; uint32_t reserved_word; uint64_t reserved[1];
} weir_decision;

int weir_abi(void);
const char *weir_version(void);
const char *weir_status_name(int status);
const char *weir_status_meaning(int status);
const char *weir_algorithm_name(int algorithm);
int weir_algorithm_parse(const char *name, int *out, weir_error *error);
int weir_limit_init(weir_limit *limit, const weir_limit_options *options, weir_error *error);
size_t weir_check_key(const weir_check *check, char *out);
size_t weir_check_id(const weir_check *check, char *out);
int weir_duration_parse(const char *text, const char *field, int64_t *out_us, weir_error *error);
int weir_rate_parse(const char *text, const char *field, int64_t *out_rate, int64_t *out_period_us, weir_error *error);
]]

local ABI = 1
local WHOLE_MAX = 2 ^ 53
local COST_MAX = 2 ^ 43

local core = { ABI = ABI, COST_MAX = COST_MAX, NOW_MAX = 2 ^ 52, CHECKS_MAX = 32 }

function core.find(name)
  return package.searchpath("lib" .. name, package.cpath) or ("lib%s.so.0"):format(name)
end

core.lib = ffi.load(core.find "weir")
if core.lib.weir_abi() ~= ABI then
  error(("libweir has interface %d; resty.weir needs %d"):format(core.lib.weir_abi(), ABI))
end

core.version = ffi.string(core.lib.weir_version())

-- One for all: whoever fills it reads it before it yields.
core.error = ffi.new "weir_error"

function core.failed(status, err)
  local code = ffi.string(core.lib.weir_status_name(status))
  local message = err and err.message[0] ~= 0 and ffi.string(err.message)
    or ffi.string(core.lib.weir_status_meaning(status))
  return nil, message, code
end

local function shown(value)
  if type(value) == "string" then
    return ("%q"):format(#value > 64 and value:sub(1, 64) or value)
  end
  return tostring(value)
end

function core.invalid(field, value, wanted)
  return nil, ("%s was %s; it must be %s"):format(field, shown(value), wanted), "WEIR_INVALID"
end

local function is_whole(value)
  return type(value) == "number" and value % 1 == 0 and value >= -WHOLE_MAX and value <= WHOLE_MAX
end

function core.text(value, field)
  if type(value) == "string" then
    return value
  end
  if is_whole(value) then
    return ("%.0f"):format(value)
  end
  return core.invalid(field, value, "text or a whole number")
end

function core.whole(value, field, most)
  if is_whole(value) and value >= 0 and value <= most then
    return value
  end
  return core.invalid(field, value, ("a whole number from 0 to %.0f"):format(most))
end

function core.now(now_us)
  return core.whole(now_us == nil and 0 or now_us, "now_us", core.NOW_MAX)
end

function core.numbers(list)
  for _, one in ipairs(list) do
    local value, field, least, most = one[1], one[2], one[3], one[4]
    if type(value) ~= "number" or not (value >= least and value <= most) then
      return core.invalid(field, value, ("a number from %.8g to %.8g"):format(least, most))
    end
  end
  return true
end

function core.check(out, limit, key, cost)
  if type(limit) ~= "table" or not limit.c then
    return core.invalid("limit", limit, "a limit, which weir.token_bucket and the others make")
  end
  local text, message, code = core.text(key, "key")
  if not text then
    return nil, message, code
  end
  out.limit, out.key, out.key_size = limit.c, text, #text
  out.cost, out.id, out.id_size = 0, nil, 0
  if limit.algorithm ~= "concurrency" then
    cost, message, code = core.whole(cost == nil and 1 or cost, "cost", COST_MAX)
    if not cost then
      return nil, message, code
    end
    out.cost = cost
    return text
  end
  if cost ~= nil then
    cost, message, code = core.text(cost, "id")
    if not cost then
      return nil, message, code
    end
    out.id, out.id_size = cost, #cost
  end
  return text, cost
end

function core.checks(list, read)
  if type(list) ~= "table" then
    return core.invalid("checks", list, "a list of checks, which limit(key, cost) makes")
  end
  local count = #list
  if count < 1 or count > core.CHECKS_MAX then
    return core.invalid("the number of checks", count, "from 1 to " .. core.CHECKS_MAX)
  end
  for i = 1, count do
    if type(list[i]) ~= "table" then
      return core.invalid(("checks[%d]"):format(i), list[i], "a check, which limit(key, cost) makes")
    end
    local fine, message, code = read(i, list[i])
    if not fine then
      return nil, ("checks[%d]: %s"):format(i, message), code
    end
  end
  return count
end

core.sources = { [0] = "store", "deny_on_error", "allow_on_error" }

function core.row(decision)
  return {
    allowed = decision.allowed,
    limit = tonumber(decision.limit),
    remaining = tonumber(decision.remaining),
    retry_after_us = tonumber(decision.retry_after_us),
    reset_after_us = tonumber(decision.reset_after_us),
    delay_us = tonumber(decision.delay_us),
    source = core.sources[decision.source],
  }
end

return core
