--- The vectors through HTTP, in a store that two workers share: every row as the C core answers it.

local host = require "spec.openresty.support.host"
local json = require "dkjson"
local weir = require "weir"

local PARTS = 3
local durations = { period = true, window = true, offset = true, gap = true, ttl = true }

local function lines_of(name)
  local lines = {}
  for line in io.lines("spec/vectors/" .. name .. ".jsonl") do
    lines[#lines + 1] = json.decode(line)
  end
  return lines
end

-- The names of workers that served, by how often.
local function note(workers, pid)
  workers[pid] = (workers[pid] or 0) + 1
end

local function count(workers)
  local n = 0
  for _ in pairs(workers) do
    n = n + 1
  end
  return n
end

describe("under two workers of nginx, the vectors", function()
  local server

  setup(function()
    server = host.start { workers = 2, limiters = "return {}", server = [[
      location = /vectors { content_by_lua_block { host.vectors.run(host.store) } }
    ]] }
  end)

  teardown(function()
    server:stop()
  end)

  -- Each sequence in parts, one request a part. Gives the sequences, the rows and the workers.
  local function run(name)
    local sequences, rows, workers = 0, 0, {}
    for i, vector in ipairs(lines_of(name)) do
      sequences = sequences + 1
      local step = math.ceil(#vector.events / PARTS)
      for from = 1, #vector.events, step do
        local path = ("/vectors?file=%s&line=%d&from=%d&past=%d"):format(name, i, from, from + step)
        local status, body = server:get(path)
        assert.equal(200, status)
        local pid, right, wrong = body:match "^(%d+) (%d+) (.*)$"
        assert.equal("", wrong, ("%s.jsonl:%d"):format(name, i))
        rows = rows + tonumber(right)
        note(workers, pid)
      end
    end
    return { sequences, rows, count(workers) }
  end

  it("are right for one limit and key", function()
    assert.same({ 500, 30000, 2 }, run "one")
  end)

  it("are right for leases", function()
    assert.same({ 120, 7200, 2 }, run "leases")
  end)

  it("are right for several limits at once", function()
    assert.same({ 250, 37560, 2 }, run "all")
  end)

  local function make_limit(given)
    local options = { name = "one" }
    for field, value in pairs(given) do
      if field ~= "algorithm" then
        options[field] = durations[field] and string.format("%dus", value) or value
      end
    end
    return weir[given.algorithm](options)
  end

  -- One request an event, each answered by whichever worker gets it, beside the C core at the same times.
  local function compare(name, every)
    local rows, workers = 0, {}
    for i, vector in ipairs(lines_of(name)) do
      if i % every == 0 then
        local core <close> = weir.memory()
        local limit, text = make_limit(vector.limit), json.encode(vector.limit)
        for j, event in ipairs(vector.events) do
          local op, now_us, cost_or_id = table.unpack(event)
          local expected = assert(core[op](core, limit, "key", cost_or_id, now_us))
          local by_id = type(cost_or_id) == "string"
          local _, body, headers = server:get("/store", {
            Verb = op, Described = text, Key = ("%s one by one %d"):format(name, i), Now = now_us,
            Cost = not by_id and cost_or_id or nil, Id = by_id and cost_or_id or nil,
          })
          local got = json.decode(body)[1]
          for field, value in pairs(expected) do
            assert.equal(value, got[field], ("%s.jsonl:%d, event %d, %s"):format(name, i, j, field))
          end
          rows = rows + 1
          note(workers, headers.worker)
        end
      end
    end
    return { rows, count(workers) }
  end

  it("are what the C core says, one request an event", function()
    assert.same({ 1200, 2 }, compare("one", 25))
    assert.same({ 600, 2 }, compare("leases", 12))
  end)
end)
