--- count: a number of requests a window, with the methods of resty.limit.count, over a fixed window of weir.
--
-- count.new(dict_name, limit, window)    limit requests in each window of so many seconds
-- lim:incoming(key, commit)    0, what remains, the seconds until the window ends; or nil, "rejected", those seconds;
--                              or nil, message, code. Without commit nothing is recorded
-- lim:uncommit(key)            what remains now: gives back what an incoming with commit took
--
-- Windows begin at whole multiples of their length since 1970, the same for all keys. A refused request does not count.
-- Objects of one dict share what they have recorded of a key, and may be shared by all requests of a worker. Whatever
-- fails answers nil, message, code.

local core = require "resty.weir.core"
local dict = require "resty.weir.dict"
local limits = require "resty.weir.limit"
local memo = require "resty.weir.memo"
local store = require "resty.weir.store"

local COUNT_MAX = 2 ^ 40
local WINDOW_MAX = 35184372 -- seconds, in 2^45 microseconds

local take, peek, refund = store.ask.take, store.ask.peek, store.ask.refund

local Count = {}
Count.__index = Count

local limit_of = memo(function(limit, window)
  local ok, message, code = core.numbers { { limit, "limit", 1, COUNT_MAX }, { window, "window", 1e-6, WINDOW_MAX } }
  if not ok then
    return nil, message, code
  end
  return limits.fixed_window { name = "count", limit = math.floor(limit), window = ("%.0fus"):format(window * 1e6) }
end)

function Count.new(dict_name, limit, window)
  local found, message, code = dict.store(dict_name)
  if not found then
    return nil, message, code
  end
  local of
  of, message, code = limit_of(limit, window)
  if not of then
    return nil, message, code
  end
  return setmetatable({ store = found, limit = of }, Count)
end

--- The check that combine takes, and what its row says. `peeked`: the row is of before the request.
function Count:check(key)
  return self.limit(key)
end

function Count.read(_, row, peeked)
  if not row.allowed then
    return nil, "rejected", tonumber(row.retry_after_us) / 1e6
  end
  return 0, tonumber(row.remaining) - (peeked and 1 or 0), tonumber(row.reset_after_us) / 1e6
end

function Count:incoming(key, commit)
  local ask = commit and take or peek
  local row, message, code = ask(self.store, self.limit, key)
  if not row then
    return nil, message, code
  end
  return self:read(row, not commit)
end

function Count:uncommit(key)
  local row, message, code = refund(self.store, self.limit, key)
  if not row then
    return nil, message, code
  end
  return tonumber(row.remaining)
end

return Count
