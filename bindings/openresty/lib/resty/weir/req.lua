--- req: a rate with a burst that waits its turn, with the methods of resty.limit.req, over a leaky bucket of weir.
--
-- req.new(dict_name, rate, burst)    rate requests a second, such as 200, 0.5 or 100 / 60; burst of them may wait
-- lim:incoming(key, commit)    the delay in seconds, the requests ahead of this one, the seconds until the key is as if
--                              untouched; or nil, "rejected", the seconds until it would pass; or nil, message, code.
--                              Without commit nothing is recorded
-- lim:uncommit(key)            true: gives back what an incoming with commit took
-- lim:set_rate(rate), lim:set_burst(burst)    true; what is wrong changes nothing
--
-- Objects of one dict share what they have recorded of a key, and may be shared by all requests of a worker. Whatever
-- fails answers nil, message, code.

local core = require "resty.weir.core"
local dict = require "resty.weir.dict"
local fraction = require "resty.weir.fraction"
local limits = require "resty.weir.limit"
local memo = require "resty.weir.memo"
local store = require "resty.weir.store"

local COUNT_MAX = 2 ^ 40
local PERIOD_MAX = 35184372 -- seconds, in 2^45 microseconds
local RATE_LEAST = 3e-8     -- a little more than one in that
local PARTS_MAX = 1000      -- in how many a request may be cut for a burst that is not whole

local take, peek, refund = store.ask.take, store.ask.peek, store.ask.refund

local Req = {}
Req.__index = Req

-- A burst of 2.5 is one of 5 where each request costs 2 of twice the rate.
local limit_of = memo(function(rate, burst)
  local ok, message, code = core.numbers {
    { rate, "rate", RATE_LEAST, COUNT_MAX }, { burst, "burst", 0, COUNT_MAX },
  }
  if not ok then
    return nil, message, code
  end
  local parts_waiting, parts = fraction(burst, COUNT_MAX, PARTS_MAX)
  local requests, seconds = fraction(rate, COUNT_MAX, PERIOD_MAX)
  local made, limit = pcall(limits.leaky_bucket, {
    name = "req",
    rate = requests * parts,
    period = ("%.0fs"):format(seconds),
    queue = parts_waiting + parts - 1,
  })
  if not made then
    return nil, limit, "WEIR_INVALID"
  end
  return { limit = limit, cost = parts }
end)

-- Changes nothing when it fails.
local function set(self, rate, burst)
  local of, message, code = limit_of(rate, burst)
  if not of then
    return nil, message, code
  end
  self.limit, self.cost, self.rate, self.burst = of.limit, of.cost, rate, burst
  return true
end

function Req.new(dict_name, rate, burst)
  local found, message, code = dict.store(dict_name)
  if not found then
    return nil, message, code
  end
  local self = setmetatable({ store = found }, Req)
  local ok
  ok, message, code = set(self, rate, burst)
  if not ok then
    return nil, message, code
  end
  return self
end

--- The check that combine takes, and what its row says.
function Req:check(key)
  return self.limit(key, self.cost)
end

function Req:read(row)
  if not row.allowed then
    return nil, "rejected", tonumber(row.retry_after_us) / 1e6
  end
  local delay = tonumber(row.delay_us) / 1e6
  return delay, delay * self.rate, tonumber(row.reset_after_us) / 1e6
end

function Req:incoming(key, commit)
  local ask = commit and take or peek
  local row, message, code = ask(self.store, self.limit, key, self.cost)
  if not row then
    return nil, message, code
  end
  return self:read(row)
end

function Req:uncommit(key)
  local row, message, code = refund(self.store, self.limit, key, self.cost)
  if not row then
    return nil, message, code
  end
  return true
end

function Req:set_rate(rate)
  return set(self, rate, self.burst)
end

function Req:set_burst(burst)
  return set(self, self.rate, burst)
end

return Req
