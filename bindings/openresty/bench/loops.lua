--- loops: what a call costs inside one worker of nginx, as ratios to a call of lua-resty-limit-traffic.
--
-- Every case runs in short turns in each round, another first every time, so that what else the machine does and what
-- the first finds cold is borne by all. A figure is the median of the rounds. `loops.run()` answers lines of text.

local ffi = require "ffi"
local req = require "resty.weir.req"
local weir = require "resty.weir.limit"

ffi.cdef [[
struct weir_bench_time { long seconds, nanoseconds; };
int weir_bench_clock(int, struct weir_bench_time *) __asm__("clock_gettime");
]]

local ROUNDS, CALLS, KEYS = 101, 20000, 1000000
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
    return function(keys, first, count)
      local start = now_ns()
      for i = first, first + count - 1 do
        local delay = call(keys[i])
        if not delay then
          error "refused"
        end
        keep(delay)
      end
      return (now_ns() - start) / count
    end
  ]]))(call, function(value) kept = value end, now_ns)
end

-- `peer` is what the others are compared with, when lua-resty-limit-traffic is there.
local function cases()
  local ours = assert(req.new("weir", RATE, BURST))
  local store, limit = ours.store, weir.token_bucket { name = "take", rate = RATE, period = "1s", burst = BURST }
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

-- Both stores put a key where its hash says, so keys in turn are read at random.
local function many_keys()
  local keys = {}
  for i = 1, KEYS do
    keys[i] = ("client %013d"):format(i)
  end
  return keys
end

-- Reads the text of some keys: that of a request has just been written when its limit is asked.
local function touch(keys, first, count)
  local sum = 0
  for i = first, first + count - 1 do
    sum = sum + keys[i]:byte(-1)
  end
  kept = sum
end

local function measure(list, keys)
  for _, case in ipairs(list) do
    case.run(keys, 1, #keys)
    case.times = {}
  end
  for round = 1, ROUNDS do
    local first = (round - 1) * CALLS % (#keys - CALLS + 1) + 1
    for place = 1, #list do
      local case = list[(place + round) % #list + 1]
      touch(keys, first, CALLS)
      case.times[round] = case.run(keys, first, CALLS)
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
  local hot = {}
  for i = 1, CALLS do
    hot[i] = "a client of 20 bytes"
  end
  measure(list, hot)
  report(lines, "one hot key", list, 1 / 3)
  measure(list, many_keys())
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
