--- calls: events and limits as a vector file has them, made into KEYS and ARGV.

local calls = {}

-- The order of parameters in ARGV.
local order = {
  token_bucket = { "rate", "period", "burst" },
  leaky_bucket = { "rate", "period", "queue" },
  fixed_window = { "limit", "window", "offset" },
  sliding_log = { "limit", "window", "count_denied" },
  sliding_counter = { "limit", "window", "slots", "strict" },
  min_gap = { "gap", "count_denied" },
  concurrency = { "limit", "ttl" },
}

local function word(value)
  if type(value) == "boolean" then
    return value and "1" or "0"
  elseif type(value) == "number" then
    return string.format("%.0f", value)
  end
  return value
end

function calls.parameters(limit)
  local words = {}
  for _, name in ipairs(order[limit.algorithm]) do
    words[#words + 1] = word(limit[name])
  end
  return words
end

-- ARGV for an event of one limit.
function calls.one(limit, op, now_us, cost)
  local words = calls.parameters(limit)
  for _, value in ipairs { cost, op, now_us } do
    words[#words + 1] = word(value)
  end
  return words
end

-- ARGV for an event of several limits.
function calls.all(limits, op, now_us, costs)
  local words = { word(now_us), op }
  for index, limit in ipairs(limits) do
    local parameters = calls.parameters(limit)
    words[#words + 1] = limit.algorithm
    words[#words + 1] = word(#parameters)
    for _, value in ipairs(parameters) do
      words[#words + 1] = value
    end
    words[#words + 1] = word(costs[index])
  end
  return words
end

return calls
