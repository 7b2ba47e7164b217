--- loops: what a call costs inside one worker of nginx, as ratios to a call of lua-resty-limit-traffic.
--
-- Every case has a turn in each round, another first every time, so that what else the machine does and what the first
-- finds cold is borne by all. A figure is the median of the rounds. `loops.run()` answers lines of text.

local dict = require "resty.weir.dict"
local ffi = require "ffi"
local req = require "resty.weir.req"
local weir = require "resty.weir.limit"

ffi.cdef [[
struct weir_bench_time { long seconds, nanoseconds; };
int weir_bench_clock(int, struct weir_bench_time *) __asm__("clock_gettime");
]]

local ROUNDS, TURN, KEYS = 21, 100000, 1000000
local CALLS = 50 -- between two looks at the clock, so that the texts of their keys stay in the first cache
local RATE, BURST = 1e6, 1e9 -- so that all pass: what is measured is a decision that is recorded
local CLOCK_MONOTONIC = 1

local time = ffi.new "struct weir_bench_time"

local function now_ns()
  ffi.C.weir_bench_clock(CLOCK_MONOTONIC, time)
  return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end

local function median(values)
  local sorted = { unpack(values) }
  table.sort(sorted)
  return sorted[math.floor((#sorted + 1) / 2)]
end

local kept

-- A loop over one call, compiled by itself: two calls through one loop would share its traces, and be measured as such.
local function loop(call)
  return assert(loadstring([[
    local call, keep, now_ns = ...
    return function(keys)
      local start = now_ns()
      for i = 1, #keys do
        local delay = call(keys[i])
        if not delay then
          error "refused"
        end
        keep(delay)
      end
      return now_ns() - start
    end
  ]]))(call, function(value) kept = value end, now_ns)
end

-- `peer` is what the others are compared with, when lua-resty-limit-traffic is there.
local function cases()
  local ours = assert(req.new("weir", RATE, BURST))
  local store = assert(dict.store "take")
  local limit = weir.token_bucket { name = "take", rate = RATE, period = "1s", burst = BURST }
  local list = {
    { name = "store:take, its row read", run = loop(function(key) return store:take(limit, key).allowed end) },
    { name = "store:take, its row kept", run = loop(function(key) return store:take(limit, key) end) },
    { name = "req:incoming", run = loop(function(key) return (ours:incoming(key, true)) end) },
  }
  local found, peer = pcall(require, "resty.limit.req")
  if found then
    local theirs = assert(peer.new("peer", RATE, BURST))
    list.peer = { name = "limit.req's incoming" }
    list.peer.run = loop(function(key) return (theirs:incoming(key, true)) end)
    list[#list + 1] = list.peer
  end
  return list
end

-- A key of 20 bytes.
local function client(number)
  return ("client %013d"):format(number)
end

-- The nanoseconds of a call, over a turn in which the text of each key was made just before, as that of a request is.
local function turn(case, keys, number)
  local sum = 0
  for _ = 1, TURN, CALLS do
    for i = 1, CALLS do
      keys[i] = client(number())
    end
    sum = sum + case.run(keys)
  end
  return sum / TURN
end

local function fill(list, keys, count)
  for first = 1, count, CALLS do
    for i = 1, CALLS do
      keys[i] = client(first + i - 1)
    end
    for _, case in ipairs(list) do
      case.run(keys)
    end
  end
end

-- Clients come in no order: in that of their first calls, a store that puts them side by side would find them in turn.
local function measure(list, count)
  local keys = {}
  local function number()
    return math.random(count)
  end
  fill(list, keys, count)
  for round = 1, ROUNDS do
    for place = 1, #list do
      local case = list[(place + round) % #list + 1]
      case.times = case.times or {}
      case.times[round] = turn(case, keys, number)
    end
  end
end

local function ratios(times, to)
  local list = {}
  for round = 1, ROUNDS do
    list[round] = times[round] / to[round]
  end
  return list
end

local function report(lines, title, list, target)
  lines[#lines + 1] = title
  for _, case in ipairs(list) do
    local ratio = ""
    if list.peer and case ~= list.peer then
      local of_theirs = median(ratios(case.times, list.peer.times))
      ratio = ("   %.3f of limit.req's incoming, at most %.3f"):format(of_theirs, target)
    end
    lines[#lines + 1] = ("  %-26s %5.0f ns%s"):format(case.name, median(case.times), ratio)
  end
end

local loops = {}

function loops.run()
  local lines, list = {}, cases()
  measure(list, 1)
  report(lines, "one hot key", list, 1 / 3)
  measure(list, KEYS)
  report(lines, "1,000,000 keys of 20 bytes", list, 1 / 8)
  if not list.peer then
    lines[#lines + 1] = "lua-resty-limit-traffic is not compared: WEIR_LIMIT_TRAFFIC does not name its lib folder"
  end
  return table.concat(lines, "\n")
end

--- For a profiler, which looks at the last value kept so that no loop can be left out.
function loops.last()
  return kept
end

return loops
