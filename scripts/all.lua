--- all: take from several limits at once, of any kinds: from every one, or from none.
--
-- KEYS      one a limit, all different; in a cluster all in one slot
-- ARGV      now_us ("": the server's clock), op = take | peek | refund | charge, then for each key
--           algorithm, number of parameters, the parameters as its own script takes them, cost (concurrency: id)
-- Reply     allowed, binding (index of the limit that binds, from 0), then six a limit: allowed, limit, remaining,
--           retry_after_us (-1: never), reset_after_us, delay_us; flat
-- Writes    what each limit's own script writes, when all allow it; refused, what count_denied limits count
-- Commands  DEL GET LINDEX LLEN LTRIM PEXPIRE RPUSH SET TIME ZADD ZCARD ZRANGE ZRANGEBYSCORE ZREM ZREMRANGEBYSCORE ZSCORE

local clock = require "wire.clock"
local concurrency = require "wire.concurrency"
local fixed_window = require "wire.fixed_window"
local join = require "wire.join"
local keep = require "wire.keep"
local keep_leases = require "wire.keep_leases"
local keep_log = require "wire.keep_log"
local leaky_bucket = require "wire.leaky_bucket"
local list = require "wire.list"
local min_gap = require "wire.min_gap"
local sliding_counter = require "wire.sliding_counter"
local sliding_log = require "wire.sliding_log"
local token_bucket = require "wire.token_bucket"
local value = require "wire.value"

local keys, arguments = KEYS, ARGV
local wrong, op, checks = list(keys, arguments)
if wrong then
  return { err = wrong }
end
local now, slack
wrong, now, slack = clock(arguments[1] ~= "" and arguments[1])
if wrong then
  return { err = wrong }
end

-- Refused, all are judged once more, so that what must be recorded even then is, and nothing else.
local allowed, binding
local verb = op
repeat
  for index, check in ipairs(checks) do
    local algorithm, first, cost, key = check.algorithm, check.first, check.cost, keys[index]
    if algorithm == "sliding_log" then
      wrong, check.length, check.from, check.kept, check.added, check.instant,
        check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after =
        sliding_log(arguments, first, key, cost, verb, now)
    elseif algorithm == "concurrency" then
      wrong, check.ttl, check.held, check.drop, check.ahead,
        check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after =
        concurrency(arguments, first, key, cost, verb, now)
    else
      if check.state == nil then
        wrong, check.state = value(key)
        if wrong then
          return { err = wrong }
        end
      end
      local state = check.state
      if algorithm == "token_bucket" then
        wrong, check.record,
          check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after, check.delay =
          token_bucket(arguments, first, state, cost, verb, now)
      elseif algorithm == "leaky_bucket" then
        wrong, check.record,
          check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after, check.delay =
          leaky_bucket(arguments, first, state, cost, verb, now)
      elseif algorithm == "fixed_window" then
        wrong, check.record,
          check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after, check.delay =
          fixed_window(arguments, first, state, cost, verb, now)
      elseif algorithm == "sliding_counter" then
        wrong, check.record,
          check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after, check.delay =
          sliding_counter(arguments, first, state, cost, verb, now)
      else
        wrong, check.record,
          check.allowed, check.limit, check.remaining, check.retry_after, check.reset_after, check.delay =
          min_gap(arguments, first, state, cost, verb, now)
      end
    end
    if wrong then
      return { err = wrong }
    end
  end
  allowed, binding = join(checks)
  local again = allowed == 0 and verb == "take"
  if again then
    verb = "refuse"
  end
until not again

local reply = { allowed, binding }
for index, check in ipairs(checks) do
  local key = keys[index]
  if check.algorithm == "sliding_log" then
    if check.from then
      keep_log(key, check.length, check.from, check.kept, check.added, check.instant, check.reset_after, slack)
    end
  elseif check.algorithm == "concurrency" then
    keep_leases(key, check.cost, check.ttl, check.held, check.drop, check.ahead, now, check.reset_after, slack)
  elseif check.record then
    keep(key, check.record, check.reset_after, slack)
  elseif check.record == false then
    redis.call("DEL", key)
  end
  local size = #reply
  reply[size + 1], reply[size + 2], reply[size + 3] = check.allowed, check.limit, check.remaining
  reply[size + 4], reply[size + 5], reply[size + 6] = check.retry_after, check.reset_after, check.delay * allowed
end
return reply
