-- What the scripts cost inside a server: ratios from its own usec_per_call, in one run.
--
-- lua5.4 c/bench/redis_scripts.lua [ROUNDS [SERVER]]
--
-- Every case runs in short turns in an order that changes from round to round, after CONFIG
-- RESETSTAT. A ratio is the median of the rounds' own ratios, so that a machine that is busy for a
-- while is busy for both.

package.path = "./?.lua;" .. package.path

local pack = require "spec.scripts.support.pack"
local server = require "spec.scripts.support.server"

local rounds, binary = tonumber(arg[1] or 21), arg[2] or "redis-server"
local CALLS, BATCH = 1000, 100
local KEY = "login:bob:0123456789" -- 20 bytes

local GET = [[redis.call("GET", KEYS[1]) return 1]]
local GET_SET = [[
  redis.call("GET", KEYS[1])
  redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
  return 1]]
local GET_SET_NUMBERS = [[
  redis.call("GET", KEYS[1])
  redis.call("SET", KEYS[1], 1784900000123456, "PX", 60000)
  return 1]]

local function body(name)
  return pack.load().entries[name].body
end

local file = assert(io.open "c/bench/straight_line.lua")
local straight = file:read "a"
file:close()

-- Parameters with which a call passes for ever, and those with which the second is refused.
local parameters = {
  { "token_bucket", { "1000000000", "60000000000", "1000000000", "1" }, { "1", "3600000000", "1", "1" } },
  { "leaky_bucket", { "1000000000", "60000000000", "1000000000", "1" }, { "1", "3600000000", "0", "1" } },
  { "fixed_window", { "1000000000", "3600000000", "0", "1" }, { "1", "86400000000", "0", "1" } },
  { "sliding_log", { "100", "1", "0", "1" }, { "100", "3600000000", "0", "100" } },
  { "sliding_counter", { "1000000000", "3600000000", "1", "0", "1" }, { "1", "86400000000", "1", "0", "1" } },
  { "min_gap", { "1", "0", "1" }, { "3600000000", "0", "1" } },
  { "concurrency", { "10", "3600000000", "job" }, { "1", "3600000000", "job" } },
}

local cases = {}
local function case(name, script, argv, prepared, baselines)
  cases[#cases + 1] = { name = name, body = script, argv = argv, prepared = prepared, baselines = baselines, turns = {} }
  return cases[#cases]
end

local plain = case("GET, SET PX", GET_SET, { "1784900000123456", "60000", "1", "1" })

for _, one in ipairs(parameters) do
  local name, passes, refuses = one[1], one[2], one[3]
  local floor = case(name .. ": return 1", "return 1", passes)
  local baselines = { { "return 1", floor }, { "GET+SET PX", plain } }
  if name == "token_bucket" then
    local numbers = case("GET, SET PX of numbers", GET_SET_NUMBERS, passes)
    local by_hand = case("by hand, allowed", straight, passes)
    baselines[3] = { "of numbers", numbers }
    baselines[4] = { "by hand", by_hand }
  end
  case(name .. ", allowed", body(name), passes, nil, baselines)
  baselines = { { "return 1", floor } }
  if name ~= "sliding_log" and name ~= "concurrency" then
    baselines[2] = { "GET", case(name .. ": GET", GET, refuses, { body(name), refuses }) }
  end
  if name == "token_bucket" then
    baselines[3] = { "by hand", case("by hand, refused", straight, refuses, { straight, refuses }) }
  end
  local next_argv = refuses
  if name == "concurrency" then
    next_argv = { "1", "3600000000", "another" }
  end
  case(name .. ", refused", body(name), next_argv, { body(name), refuses }, baselines)
end
local client

local function command(script, argv)
  return { "EVALSHA", client:call("SCRIPT", "LOAD", script), "1", KEY, table.unpack(argv) }
end

local function turn(one)
  client:call "FLUSHALL"
  if one.prepared then
    client:call(table.unpack(command(one.prepared[1], one.prepared[2])))
  end
  local batch, words = {}, command(one.body, one.argv)
  for index = 1, BATCH do
    batch[index] = words
  end
  client:call("CONFIG", "RESETSTAT")
  for _ = 1, CALLS / BATCH do
    for _, reply in ipairs(client:pipeline(batch)) do
      if type(reply) == "table" and reply.err then
        error(one.name .. ": " .. reply.err, 0)
      end
    end
  end
  local calls, usec = client:call("INFO", "commandstats"):match "cmdstat_evalsha:calls=(%d+),usec=(%d+)"
  one.turns[#one.turns + 1] = tonumber(usec) / tonumber(calls)
end

local function median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return sorted[(#sorted + 1) // 2]
end

local function measure()
  math.randomseed(1)
  for _ = 1, rounds do
    local order = {}
    for index, one in ipairs(cases) do
      table.insert(order, math.random(index), one)
    end
    for _, one in ipairs(order) do
      turn(one)
    end
  end

  print(("%-28s %8s   ratio to"):format("case", "us/call"))
  for _, one in ipairs(cases) do
    local ratios = {}
    for _, baseline in ipairs(one.baselines or {}) do
      local each = {}
      for round, us in ipairs(one.turns) do
        each[round] = us / baseline[2].turns[round]
      end
      ratios[#ratios + 1] = ("%s %.2f"):format(baseline[1], median(each))
    end
    if one.baselines then
      print(("%-28s %8.2f   %s"):format(one.name, median(one.turns), table.concat(ratios, ", ")))
    end
  end

  print(("\n%-28s %8s"):format("a key of 20 bytes", "bytes"))
  local function bytes(name, script, argv)
    client:call "FLUSHALL"
    client:call(table.unpack(command(script, argv)))
    print(("%-28s %8d"):format(name, client:call("MEMORY", "USAGE", KEY, "SAMPLES", "0")))
  end
  bytes("an integer with a TTL", [[redis.call("SET", KEYS[1], 1784900000123456, "PX", 60000) return 1]], {})
  for _, one in ipairs(parameters) do
    bytes(one[1], body(one[1]), one[2])
  end
  bytes("token_bucket, 7 a minute", body "token_bucket", { "7", "60000000", "7" })
  bytes("sliding_log of 10,000", body "sliding_log", { "10000", "60000000", "0", "10000" })
end

local running = server.start { name = binary, binary = binary, options = "" }
client = running.connection
local fine, message = xpcall(measure, debug.traceback)
running:stop()
if not fine then
  error(message, 0)
end
