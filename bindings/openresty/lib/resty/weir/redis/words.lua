--- words: a check as the scripts take it: what follows KEYS, as the headers of the scripts give it.
--
-- words.one(list, check, verb, now_us)    appends parameters[, cost = 1[, op = take[, now = the server's clock]]]
-- words.all(list, checks, now_us)         appends now or "", op, then for each check algorithm, number of parameters,
--                                         parameters, cost
--
-- A check has limit, and cost: a number, or the id of concurrency as a text. A now of 0 is the server's clock.

local words = {}

-- Numbers as text are cut to 14 digits by Lua.
local function digits(number)
  return ("%.0f"):format(tonumber(number))
end

local function flag(value)
  return value and "1" or "0"
end

local readers = {
  token_bucket = function(c)
    return { digits(c.rate), digits(c.period), digits(c.most) }
  end,
  leaky_bucket = function(c)
    return { digits(c.rate), digits(c.period), digits(c.most - 1) }
  end,
  fixed_window = function(c)
    return { digits(c.most), digits(c.window_us), digits(c.offset_us) }
  end,
  sliding_log = function(c)
    return { digits(c.most), digits(c.window_us), flag(c.count_denied) }
  end,
  sliding_counter = function(c)
    return { digits(c.most), digits(c.window_us), digits(c.slots), flag(c.strict) }
  end,
  min_gap = function(c)
    return { digits(c.window_us), flag(c.count_denied) }
  end,
  concurrency = function(c)
    return { digits(c.most), digits(c.window_us) }
  end,
}

-- Of each limit once: limits are made at load and never change.
local kept = setmetatable({}, { __mode = "k" })

local function parameters(limit)
  local list = kept[limit]
  if not list then
    list = readers[limit.algorithm](limit.c)
    kept[limit] = list
  end
  return list
end

local function cost_of(check)
  return type(check.cost) == "number" and digits(check.cost) or check.cost
end

local function append(list, more)
  local size = #list
  for i = 1, #more do
    list[size + i] = more[i]
  end
end

-- What is left out costs nothing.
function words.one(list, check, verb, now_us)
  local is_concurrency = check.limit.algorithm == "concurrency"
  local has_op = now_us ~= 0 or verb ~= "take" and verb ~= "acquire"
  append(list, parameters(check.limit))
  if has_op or is_concurrency or check.cost ~= 1 then
    list[#list + 1] = cost_of(check)
  end
  if has_op then
    list[#list + 1] = is_concurrency and verb == "take" and "acquire" or verb
  end
  if now_us ~= 0 then
    list[#list + 1] = digits(now_us)
  end
  return list
end

function words.all(list, checks, now_us)
  append(list, { now_us ~= 0 and digits(now_us) or "", "take" })
  for _, check in ipairs(checks) do
    local own = parameters(check.limit)
    append(list, { check.limit.algorithm, digits(#own) })
    append(list, own)
    list[#list + 1] = cost_of(check)
  end
  return list
end

return words
