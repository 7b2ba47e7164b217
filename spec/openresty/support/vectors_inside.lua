--- vectors_inside: runs sequences of the vectors on a store of resty.weir and tells what was not as expected.
--
-- vectors_inside.run(store)   in nginx, a part of one sequence, from the request's arguments: file, line, from, past
--                             (events); says the worker's pid, the rows that were right, and the first that was not
-- vectors_inside.file(store, name)    a whole file, in nginx or not: how many sequences, the rows that were right, and
--                             the first of each sequence that was not
-- vectors_inside.limit(text)  the limit that a JSON object describes, made once
--
-- The key is the line, so the parts of a sequence may run in any worker, as long as one ends before the next begins.

local json = require "dkjson"
local weir = require "resty.weir"

local vectors_inside = {}

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

local limits = {}

function vectors_inside.limit(text)
  limits[text] = limits[text] or make_limit(json.decode(text), "one")
  return limits[text]
end

local files = {}

local function lines_of(name)
  if not files[name] then
    local lines = {}
    for line in io.lines("spec/vectors/" .. name .. ".jsonl") do
      lines[#lines + 1] = line
    end
    files[name] = lines
  end
  return files[name]
end

local function flat(row)
  return { row.allowed and 1 or 0, row.limit, row.remaining, row.retry_after_us, row.reset_after_us, row.delay_us }
end

local function text_of(list)
  local texts = {}
  for i, value in ipairs(list) do
    texts[i] = ("%.0f"):format(value)
  end
  return table.concat(texts, " ")
end

-- What was said and what is right, as lists of rows.
local function run_one(store, vector, event, expected, key)
  local limit = make_limit(vector.limit, "one")
  return { flat(assert(store[event[1]](store, limit, key, event[3], event[2]))) }, { expected }
end

local function run_all(store, vector, event, expected, key)
  local checks = {}
  for i, given in ipairs(vector.limits) do
    checks[i] = make_limit(given, "limit " .. i)(key, event[2][i])
  end
  local joint, rows = store:take_all(checks, event[1])
  local got, right = { { joint.allowed and 1 or 0, joint.binding - 1 } }, { { expected[1], expected[2] } }
  for i, row in ipairs(rows) do
    got[i + 1], right[i + 1] = flat(row), expected[3][i]
  end
  return got, right
end

-- Of the events from one up to but not with another: the rows that were right, and the first that was not, or "".
local function part(store, name, line, from, past)
  local vector = json.decode(lines_of(name)[line])
  local run = vector.limits and run_all or run_one
  local rows, wrong = 0, ""
  for i = from, math.min(past - 1, #vector.events) do
    local got, right = run(store, vector, vector.events[i], vector.expect[i], name .. " " .. line)
    for j, row in ipairs(right) do
      local was, expected = text_of(got[j]), text_of(row)
      if was == expected then
        rows = rows + 1
      elseif wrong == "" then
        wrong = ("event %d was %s; it must be %s"):format(i, was, expected)
      end
    end
  end
  return rows, wrong
end

function vectors_inside.run(store)
  local var = ngx.var
  local rows, wrong = part(store, var.arg_file, tonumber(var.arg_line), tonumber(var.arg_from), tonumber(var.arg_past))
  ngx.print(ngx.worker.pid(), " ", rows, " ", wrong)
end

function vectors_inside.file(store, name)
  local sequences, rows, wrong = #lines_of(name), 0, {}
  for line = 1, sequences do
    local right, first = part(store, name, line, 1, math.huge)
    rows = rows + right
    if first ~= "" then
      wrong[#wrong + 1] = ("%s.jsonl:%d, %s"):format(name, line, first)
    end
  end
  return sequences, rows, table.concat(wrong, "\n")
end

return vectors_inside
