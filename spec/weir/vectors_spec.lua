--- The vectors through the binding: every row as the C core and the scripts answer it.

local json = require "dkjson"
local weir = require "weir"

local durations = { period = true, window = true, offset = true, gap = true, ttl = true }

local function make_limit(given, name)
  local options = { name = name }
  for field, value in pairs(given) do
    if field ~= "algorithm" then
      options[field] = durations[field] and string.format("%dus", value) or value
    end
  end
  return weir[given.algorithm](options)
end

local function flat(row)
  return { row.allowed and 1 or 0, row.limit, row.remaining, row.retry_after_us, row.reset_after_us, row.delay_us }
end

local function same(a, b)
  for i = 1, 6 do
    if a[i] ~= b[i] then
      return false
    end
  end
  return true
end

-- Runs each sequence of the file on a fresh store. The runner gives an event's rows and the right ones.
local function run(name, runner)
  local sequences, rows = 0, 0
  for line in io.lines("spec/vectors/" .. name .. ".jsonl") do
    local vector = json.decode(line)
    local store <close> = weir.memory()
    sequences = sequences + 1
    assert(#vector.events == #vector.expect)
    local answer = runner(vector, store)
    for i, event in ipairs(vector.events) do
      local got, expected = answer(event, vector.expect[i])
      for j, row in ipairs(expected) do
        rows = rows + 1
        if not same(got[j], row) then
          error(string.format("%s.jsonl:%d, event %d, was %s; it must be %s", name, sequences, i,
            json.encode(got[j]), json.encode(row)))
        end
      end
    end
  end
  return sequences, rows
end

local function run_one(vector, store)
  local limit = make_limit(vector.limit, "one")
  return function(event, expected)
    local op, now_us, cost_or_id = event[1], event[2], event[3]
    return { flat(assert(store[op](store, limit, "key", cost_or_id, now_us))) }, { expected }
  end
end

local function run_all(vector, store)
  local limits = {}
  for i, given in ipairs(vector.limits) do
    limits[i] = make_limit(given, "limit " .. i)
  end
  return function(event, expected)
    local checks = {}
    for i, limit in ipairs(limits) do
      checks[i] = limit("key", event[2][i])
    end
    local joint = assert(store:take_all(checks, event[1]))
    local got = { { joint.allowed and 1 or 0, joint.binding - 1 } }
    local right = { { expected[1], expected[2] } }
    for i, row in ipairs(joint.rows) do
      got[i + 1], right[i + 1] = flat(row), expected[3][i]
    end
    return got, right
  end
end

describe("the vectors", function()
  it("are right for one limit and key", function()
    assert.same({ 500, 30000 }, { run("one", run_one) })
  end)

  it("are right for leases", function()
    assert.same({ 120, 7200 }, { run("leases", run_one) })
  end)

  it("are right for several limits at once", function()
    assert.same({ 250, 37560 }, { run("all", run_all) })
  end)
end)
