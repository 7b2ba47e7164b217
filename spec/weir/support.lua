--- support: a key of a limit in a store, and its answers in the notation of the cases.
--
-- Times are milliseconds after midnight on 2026-01-01, UTC, when windows of up to a day begin. "A" is allowed, "D(n)"
-- denied with a retry after n milliseconds, "D(never)" denied for ever; "A x5" stands for five in a row.

local busted = require "busted"
local stores = require "spec.weir.stores"

local support = {}

local midnight_us = 1767225600000000

--- The instant in microseconds, as stores take it.
function support.at(ms)
  return midnight_us + math.floor(ms * 1000 + 0.5)
end

local function verdict(row)
  if row.allowed then
    return "A"
  end
  if row.retry_after_us == -1 then
    return "D(never)"
  end
  return (string.format("D(%.3f)", row.retry_after_us / 1000):gsub("%.?0+%)", ")"))
end

--- The verdicts of rows as one text.
function support.verdicts(rows)
  local words, i = {}, 1
  while i <= #rows do
    local word, count = verdict(rows[i]), 1
    while rows[i + count] and verdict(rows[i + count]) == word do
      count = count + 1
    end
    words[#words + 1] = count > 1 and word .. " x" .. count or word
    i = i + count
  end
  return table.concat(words, " ")
end

--- The same event many times.
function support.times(count, event)
  local events = {}
  for i = 1, count do
    events[i] = event
  end
  return events
end

--- Events from first to last, step apart.
function support.every(step, first, last)
  local events = {}
  for i = 0, math.floor((last - first) / step + 1e-9) do
    events[#events + 1] = first + i * step
  end
  return events
end

local subject = {}
subject.__index = subject

for _, verb in ipairs { "take", "peek", "refund", "charge", "acquire", "renew", "release" } do
  subject[verb] = function(self, ms, cost_or_id)
    return assert(self.store[verb](self.store, self.limit, self.key, cost_or_id, support.at(ms)))
  end
end

function subject:reset()
  return self.store:reset(self.limit, self.key)
end

--- The verdicts of takes. Each list holds times, or { time, cost or id }.
function subject:takes(...)
  local rows = {}
  for _, events in ipairs { ... } do
    for _, event in ipairs(events) do
      local ms, cost_or_id = event, nil
      if type(event) == "table" then
        ms, cost_or_id = event[1], event[2]
      end
      rows[#rows + 1] = self:take(ms, cost_or_id)
    end
  end
  return support.verdicts(rows)
end

--- The same key under another limit.
function subject:under(limit)
  return setmetatable({ store = self.store, limit = limit, key = self.key }, subject)
end

function support.subject(store, limit, key)
  return setmetatable({ store = store, limit = limit, key = key or "bob" }, subject)
end

function support.remaining(rows)
  local numbers = {}
  for i, row in ipairs(rows) do
    numbers[i] = row.remaining
  end
  return numbers
end

--- Describes the same on each kind of store. The body is given a function of limit and key that gives a subject in a
-- store of its test, and one that gives the store.
function support.on_each_store(title, body)
  for _, kind in ipairs(stores) do
    busted.describe(title .. ", in a " .. kind.name .. ",", function()
      local store
      busted.before_each(function()
        store = assert(kind.open())
      end)
      busted.after_each(function()
        store:close()
      end)
      body(function(limit, key)
        return support.subject(store, limit, key)
      end, function()
        return store
      end)
    end)
  end
end

return support
