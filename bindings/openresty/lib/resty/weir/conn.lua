--- conn: requests at once, with the methods of resty.limit.conn, over leases of weir.
--
-- conn.new(dict_name, conn, burst, default_conn_delay[, ttl = 300])
--                              conn at once, and burst more that wait; the delay in seconds that one waits for another;
--                              the seconds after which a place lapses that nobody gave back, because its worker died
-- lim:incoming(key, commit)    the delay in seconds, the requests at once with this one, the seconds until the key is
--                              as if untouched; or nil, "rejected", the seconds until a place lapses at the latest; or
--                              nil, message, code. Without commit nothing is recorded
-- lim:is_committed()           whether this request has a place that the last incoming gave it
-- lim:leaving(key[, latency])  the requests at once that are left; the latency in seconds goes into the delay
-- lim:uncommit(key)            the same, without a latency
-- lim:renew(key)               true while the request has its place, for `ttl` more; false when that has lapsed
-- lim:set_conn(conn), lim:set_burst(burst)    true; what is wrong changes nothing
--
-- A request has one place of a key, however often it asks: asking again renews it. Objects of one dict share what they
-- have recorded of a key, and may be shared by all requests of a worker. Whatever fails answers nil, message, code.

local core = require "resty.weir.core"
local dict = require "resty.weir.dict"
local ffi = require "ffi"
local limits = require "resty.weir.limit"
local memo = require "resty.weir.memo"
local store = require "resty.weir.store"

local get_request = require("resty.core.base").get_request
local worker_pid = ngx.worker.pid

local CONN_MAX = 2 ^ 39 -- conn and burst together are at most 2^40
local SECONDS_MAX = 35184372 -- in 2^45 microseconds
local TTL = 300

local acquire, peek, release, renew = store.ask.acquire, store.ask.peek, store.ask.release, store.ask.renew

local Conn = {}
Conn.__index = Conn

-- Who holds a place is the request, by its address in its worker: as long as it lives nobody else has that, through
-- redirects and in every phase. Whoever has it after a request that never left takes over its place.
local holder = ffi.new "uint64_t[2]"

local function request_address()
  local request = get_request()
  if request == nil then
    return nil, "there is no request; a place belongs to the one that is served", "WEIR_INVALID"
  end
  return tonumber(ffi.cast("uintptr_t", request))
end

local function holder_of(request)
  holder[0], holder[1] = worker_pid(), request
  return ffi.string(holder, ffi.sizeof(holder))
end

local function at_once(row)
  return tonumber(row.limit) - tonumber(row.remaining)
end

local limit_of = memo(function(places, ttl)
  return limits.concurrency { name = "conn", limit = places, ttl = ("%.0fus"):format(ttl * 1e6) }
end)

-- Changes nothing when it fails.
local function set(self, conn, burst)
  local ok, message, code = core.numbers { { conn, "conn", 1, CONN_MAX }, { burst, "burst", 0, CONN_MAX } }
  if not ok then
    return nil, message, code
  end
  self.limit, self.conn, self.burst = limit_of(math.floor(conn + burst), self.ttl), conn, burst
  return true
end

function Conn.new(dict_name, conn, burst, default_conn_delay, ttl)
  local found, message, code = dict.store(dict_name)
  if not found then
    return nil, message, code
  end
  local self = setmetatable({ store = found, delay = default_conn_delay, ttl = ttl or TTL, committed = {} }, Conn)
  local ok
  ok, message, code = core.numbers {
    { self.delay, "default_conn_delay", 1e-6, SECONDS_MAX }, { self.ttl, "ttl", 1e-6, SECONDS_MAX },
  }
  if ok then
    ok, message, code = set(self, conn, burst)
  end
  if not ok then
    return nil, message, code
  end
  return self
end

--- The check that combine takes, and what its row says. `peeked`: the row is of before the request.
function Conn:check(key)
  local request, message, code = request_address()
  if not request then
    return nil, message, code
  end
  self.committed[request] = nil
  return self.limit(key, holder_of(request))
end

function Conn:read(row, peeked)
  if not row.allowed then
    return nil, "rejected", tonumber(row.retry_after_us) / 1e6
  end
  if not peeked then
    self.committed[request_address()] = true
  end
  local level = at_once(row) + (peeked and 1 or 0)
  local turns = level > self.conn and math.floor((level - 1) / self.conn) or 0
  return self.delay * turns, level, tonumber(row.reset_after_us) / 1e6
end

function Conn:incoming(key, commit)
  local request, message, code = request_address()
  if not request then
    return nil, message, code
  end
  self.committed[request] = nil
  local row
  if commit then
    row, message, code = acquire(self.store, self.limit, key, holder_of(request))
  else
    row, message, code = peek(self.store, self.limit, key)
  end
  if not row then
    return nil, message, code
  end
  return self:read(row, not commit)
end

function Conn:is_committed()
  return self.committed[request_address() or 0] == true
end

function Conn:uncommit(key)
  local request, message, code = request_address()
  if not request then
    return nil, message, code
  end
  self.committed[request] = nil
  local row
  row, message, code = release(self.store, self.limit, key, holder_of(request))
  if not row then
    return nil, message, code
  end
  return at_once(row)
end

-- A latency that is a difference of two clocks may be a little below nought: that is nought.
function Conn:leaving(key, latency)
  local left, message, code = self:uncommit(key)
  if not left or latency == nil then
    return left, message, code
  end
  local ok
  ok, message, code = core.numbers { { latency, "latency", -SECONDS_MAX, SECONDS_MAX } }
  if not ok then
    return nil, message, code
  end
  self.delay = (self.delay + math.max(latency, 0)) / 2
  return left
end

function Conn:renew(key)
  local request, message, code = request_address()
  if not request then
    return nil, message, code
  end
  local row
  row, message, code = renew(self.store, self.limit, key, holder_of(request))
  if not row then
    return nil, message, code
  end
  return row.allowed
end

function Conn:set_conn(conn)
  return set(self, conn, self.burst)
end

function Conn:set_burst(burst)
  return set(self, self.conn, burst)
end

return Conn
