--- loops: what a call costs inside one worker of nginx, as ratios to a call of lua-resty-limit-traffic.
--
-- Every case runs in short turns, one after the other in each round, so that what else the machine does is borne by all.
-- A figure is the median of the rounds. `loops.run()` answers lines of text.

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
  table.sort(values)
  return values[math.floor((#values + 1) / 2)]
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

local function cases()
  local ours = assert(req.new("weir", RATE, BURST))
  local store, limit = ours.store, weir.token_bucket { name = "take", rate = RATE, period = "1s", burst = BURST }
  local list = {
    { "store:take, its row read", loop(function(key) return store:take(limit, key).remaining end) },
    { "store:take, its row kept", loop(function(key) return store:take(limit, key) end) },
    { "req:incoming", loop(function(key) return (ours:incoming(key, true)) end) },
  }
  local found, peer = pcall(require, "resty.limit.req")
  if found then
    local theirs = assert(peer.new("peer", RATE, BURST))
    list.peer = loop(function(key) return (theirs:incoming(key, true)) end)
  end
  return list
end

-- Both stores put a key where its hash says, so keys in turn are read at random; the key itself is at hand, as that of a
-- request is.
local function many_keys()
  local keys = {}
  for i = 1, KEYS do
    keys[i] = ("client %013d"):format(i)
  end
  return keys
end

local function measure(list, keys, warm)
  for i = 1, #list do
    list[i][2](keys, 1, warm)
  end
  if list.peer then
    list.peer(keys, 1, warm)
  end
  local times, ratios = {}, {}
  for i = 1, #list do
    times[i], ratios[i] = {}, {}
  end
  local theirs = {}
  for round = 1, ROUNDS do
    local first = (round - 1) * CALLS % (#keys - CALLS + 1) + 1
    theirs[round] = list.peer and list.peer(keys, first, CALLS)
    for i = 1, #list do
      times[i][round] = list[i][2](keys, first, CALLS)
      ratios[i][round] = list.peer and times[i][round] / theirs[round]
    end
  end
  return times, ratios, theirs
end

local function report(lines, title, list, target, times, ratios, theirs)
  lines[#lines + 1] = title
  for i = 1, #list do
    local text = ("  %-26s %5.0f ns"):format(list[i][1], median(times[i]))
    if list.peer then
      text = text .. ("   %.3f of limit.req's incoming, at most %.3f"):format(median(ratios[i]), target)
    end
    lines[#lines + 1] = text
  end
  if list.peer then
    lines[#lines + 1] = ("  %-26s %5.0f ns"):format("limit.req's incoming", median(theirs))
  end
end

local loops = {}

function loops.run()
  local lines, list = {}, cases()
  local hot = {}
  for i = 1, CALLS do
    hot[i] = "a client of 20 bytes"
  end
  report(lines, "one hot key", list, 1 / 3, measure(list, hot, CALLS))
  report(lines, "1,000,000 keys of 20 bytes", list, 1 / 8, measure(list, many_keys(), KEYS))
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
