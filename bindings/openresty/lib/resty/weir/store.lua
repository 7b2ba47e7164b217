--- store: the verbs of a store of libweir, through FFI. resty.weir.shared opens one.
--
-- store:take(limit, key[, cost or id[, now_us]])    a row; and peek, refund, charge, acquire, renew, release
-- store:take_all({ limit(key, cost), ... }[, now_us])    the joint row, with `binding`, the place in the list of the
--                                 check that binds; and the rows, one a check
-- store:take_many({ limit(key, cost), ... }[, now_us])    rows; one without an answer has `code` and `message`
-- store:reset(limit, key)         true
-- store:counters()                { keys, evicted, allowed, refused, size_bytes }
-- store:now_us()
--
-- store.in_memory                 true: it answers in every phase, those without sockets too
-- store.ask.take(store, limit, key[, cost or id[, now_us]])    and the others: the weir_decision itself, good until the
--                                 next call of any verb, for who wants no table made
--
-- Whatever fails answers nil, message, code. No call waits for anything but a lock of a few microseconds.

local core = require "resty.weir.core"
local ffi = require "ffi"

ffi.cdef [[
typedef struct weir_store weir_store;
typedef struct weir_counters { uint64_t keys, evicted, allowed, refused, size_bytes, reserved[3]; } weir_counters;
int weir_store_take(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_take_all(weir_store *, const weir_check *, size_t, int64_t now_us, weir_decision *, weir_decision *rows,
                        weir_error *);
int weir_store_take_many(weir_store *, const weir_check *, size_t, int64_t now_us, weir_decision *rows, weir_error *);
int weir_store_peek(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_refund(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_charge(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_acquire(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_renew(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_release(weir_store *, const weir_check *, int64_t now_us, weir_decision *, weir_error *);
int weir_store_reset(weir_store *, const weir_check *, weir_error *);
int64_t weir_store_now_us(weir_store *);
int weir_memory_counters(weir_store *, weir_counters *);
void weir_store_close(weir_store *);
]]

local lib = core.lib
local CHECKS_MAX = core.CHECKS_MAX

-- Filled and read within one call, which never yields.
local check = ffi.new "weir_check"
local decision = ffi.new "weir_decision"
local checks = ffi.new("weir_check[?]", CHECKS_MAX)
local rows = ffi.new("weir_decision[?]", CHECKS_MAX)
local counters = ffi.new "weir_counters"

local Store = { in_memory = true }
Store.__index = Store

-- The verbs as a weir_decision, of which no row is made: it is good until the next call of any verb.
local ask = {}

for _, verb in ipairs { "take", "peek", "refund", "charge", "acquire", "renew", "release" } do
  local call = lib["weir_store_" .. verb]

  ask[verb] = function(self, limit, key, cost, now_us)
    local text, id, code = core.check(check, limit, key, cost)
    if not text then
      return nil, id, code
    end
    local now, message
    now, message, code = core.now(now_us)
    if not now then
      return nil, message, code
    end
    local status = call(self.c, check, now, decision, core.error)
    if status ~= 0 then
      return core.failed(status, core.error)
    end
    return decision
  end

  Store[verb] = function(self, limit, key, cost, now_us)
    local answer, message, code = ask[verb](self, limit, key, cost, now_us)
    if not answer then
      return nil, message, code
    end
    return core.row(answer)
  end
end

-- The texts that `checks` points to, so that Lua does not collect them.
local kept = {} -- luacheck: ignore 241

local function read_check(i, one)
  local text, id, code = core.check(checks[i - 1], one[1], one[2], one[3])
  if not text then
    return nil, id, code
  end
  kept[2 * i - 1], kept[2 * i] = text, id
  return true
end

-- Reads a list into `checks`. Gives how many there are, and the time.
local function read_call(list, now_us)
  local now, message, code = core.now(now_us)
  if not now then
    return nil, message, code
  end
  local count
  count, message, code = core.checks(list, read_check)
  if not count then
    return nil, message, code
  end
  return count, now
end

function Store:take_all(list, now_us)
  local count, now, code = read_call(list, now_us)
  if not count then
    return nil, now, code
  end
  local status = lib.weir_store_take_all(self.c, checks, count, now, decision, rows, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  local joint, own = core.row(decision), {}
  joint.binding = tonumber(decision.binding) + 1
  for i = 1, count do
    own[i] = core.row(rows[i - 1])
  end
  return joint, own
end

function Store:take_many(list, now_us)
  local count, now, code = read_call(list, now_us)
  if not count then
    return nil, now, code
  end
  lib.weir_store_take_many(self.c, checks, count, now, rows, nil)
  local own = {}
  for i = 1, count do
    local row = rows[i - 1]
    if row.status == 0 then
      own[i] = core.row(row)
    else
      local _, why, name = core.failed(row.status)
      own[i] = { code = name, message = why }
    end
  end
  return own
end

function Store:reset(limit, key)
  local text, message, code = core.check(check, limit, key)
  if not text then
    return nil, message, code
  end
  local status = lib.weir_store_reset(self.c, check, core.error)
  if status ~= 0 then
    return core.failed(status, core.error)
  end
  return true
end

function Store:counters()
  local status = lib.weir_memory_counters(self.c, counters)
  if status ~= 0 then
    return core.failed(status)
  end
  return {
    keys = tonumber(counters.keys),
    evicted = tonumber(counters.evicted),
    allowed = tonumber(counters.allowed),
    refused = tonumber(counters.refused),
    size_bytes = tonumber(counters.size_bytes),
  }
end

function Store:now_us()
  return tonumber(lib.weir_store_now_us(self.c))
end

local store = { ask = ask }

--- A store of the weir_store that `c` points to; closed when it is collected.
function store.wrap(c)
  return setmetatable({ c = ffi.gc(c, lib.weir_store_close) }, Store)
end

return store
