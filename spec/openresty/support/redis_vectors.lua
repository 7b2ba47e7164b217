--- redis_vectors: runs a file of spec/vectors on a store inside nginx, several sequences at a time.
--
-- redis_vectors(store, name)    how many sequences and rows were compared, and the first that differ as sentences

local json = require "dkjson"
local weir = require "resty.weir.limit"

local THREADS = 8

local durations = { period = true, window = true, offset = true, gap = true, ttl = true }

local function make_limit(given, name)
  local options = { name = name }
  for field, value in pairs(given) do
    if field ~= "algorithm" then
      options[field] = durations[field] and ("%.0fus"):format(value) or value
    end
  end
  return weir[given.algorithm](options)
end

local function flat(row)
  return ("%d %.0f %.0f %.0f %.0f %.0f"):format(row.allowed and 1 or 0, row.limit, row.remaining, row.retry_after_us,
    row.reset_after_us, row.delay_us)
end

local function right(row)
  return ("%d %.0f %.0f %.0f %.0f %.0f"):format(unpack(row))
end

local function run_one(store, vector, key)
  local limit = make_limit(vector.limit, "one")
  return function(event, expected)
    return { flat(assert(store[event[1]](store, limit, key, event[3], event[2]))) }, { right(expected) }
  end
end

local function run_all(store, vector, key)
  local limits = {}
  for i, given in ipairs(vector.limits) do
    limits[i] = make_limit(given, "limit " .. i)
  end
  return function(event, expected)
    local checks = {}
    for i, limit in ipairs(limits) do
      checks[i] = limit(key, event[2][i])
    end
    local joint, rows = store:take_all(checks, event[1])
    assert(joint, rows)
    local got = { ("%d %d"):format(joint.allowed and 1 or 0, joint.binding - 1) }
    local expect = { ("%d %d"):format(expected[1], expected[2]) }
    for i, row in ipairs(rows) do
      got[i + 1], expect[i + 1] = flat(row), right(expected[3][i])
    end
    return got, expect
  end
end

return function(store, name)
  local lines = {}
  for line in io.lines("spec/vectors/" .. name .. ".jsonl") do
    lines[#lines + 1] = line
  end
  local rows, wrong = 0, {}
  local function run(first)
    for i = first, #lines, THREADS do
      local vector = json.decode(lines[i])
      local answer = (vector.limits and run_all or run_one)(store, vector, ("%s %d"):format(name, i))
      for j, event in ipairs(vector.events) do
        local got, expected = answer(event, vector.expect[j])
        for k, row in ipairs(expected) do
          rows = rows + 1
          if got[k] ~= row and #wrong < 10 then
            wrong[#wrong + 1] = ("%s:%d, event %d, was %s; it must be %s"):format(name, i, j, got[k], row)
          end
        end
      end
    end
  end
  local threads = {}
  for i = 1, THREADS do
    threads[i] = ngx.thread.spawn(run, i)
  end
  for _, thread in ipairs(threads) do
    assert(ngx.thread.wait(thread))
  end
  return #lines, rows, table.concat(wrong, "\n")
end
