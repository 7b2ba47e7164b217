--- vocabulary: the words a policy is written in, over a host that makes limits and reads durations.
--
-- Limits, made while the policy loads. All take a name, and shadow = true to report and never refuse:
--
-- weir.token_bucket { rate, period, burst }         rate = "10/s", or a number with its period
-- weir.leaky_bucket { rate, period, queue }
-- weir.fixed_window { limit, window, offset }
-- weir.sliding_log { limit, window, count_denied }
-- weir.sliding_counter { limit, window, slots, strict }
-- weir.min_gap { gap, count_denied }
-- weir.concurrency { limit, ttl }
--
-- limit(key[, cost = 1])                            a check, for the function of the request to return; concurrency has
--                                                   an id in place of the cost, here and below
-- limit:peek(key[, cost])                           a row: { allowed, limit, remaining, retry_after_us, reset_after_us,
--                                                   delay_us }. An error where the store is one that must be waited
--                                                   for, such as Redis in nginx
-- limit:refund(key[, cost]), limit:charge(...), limit:release(key, id)    in the function of the response
--
-- weir.deny([reason])                               for the function of the request to return: refuses
-- weir.address(text[, bits = 64[, bits_v4 = 32]])   the network, or nil and a sentence
-- weir.duration(text)                               in microseconds
--
-- The module is a function of the host, so that one vocabulary serves the sandbox, a program's own Lua and nginx alike:
--
-- host.limit(options)          a limit object; times in microseconds. Else nil and what was wrong
-- host.duration(text, field)   microseconds. Else nil and what was wrong
-- host.rate(text, field)       a rate and its period in microseconds. Else nil and what was wrong
-- host.deny(reason)            what a policy returns to refuse without a limit

local address = require "weir.address"

-- What each algorithm must be given, and what it may be given.
local algorithms = {
  token_bucket = { needed = { "name", "rate" }, optional = { "period", "burst", "shadow" } },
  leaky_bucket = { needed = { "name", "rate" }, optional = { "period", "queue", "shadow" } },
  fixed_window = { needed = { "name", "limit", "window" }, optional = { "offset", "shadow" } },
  sliding_log = { needed = { "name", "limit", "window" }, optional = { "count_denied", "shadow" } },
  sliding_counter = { needed = { "name", "limit", "window" }, optional = { "slots", "strict", "shadow" } },
  min_gap = { needed = { "name", "gap" }, optional = { "count_denied", "shadow" } },
  concurrency = { needed = { "name", "limit", "ttl" }, optional = { "shadow" } },
}

local function quoted(value)
  return type(value) == "string" and string.format("%q", string.sub(value, 1, 64)) or tostring(value)
end

local function was(field, value, wanted)
  return nil, string.format("%s was %s; it must be %s", field, quoted(value), wanted)
end

local function is_whole(value)
  return type(value) == "number" and value % 1 == 0
end

return function(host)
  local function text(value, field, out)
    if type(value) ~= "string" then
      return was(field, value, "text")
    end
    out[field] = value
    return true
  end

  local function flag(value, field, out)
    if type(value) ~= "boolean" then
      return was(field, value, "true or false")
    end
    out[field] = value
    return true
  end

  local function count_from(least)
    return function(value, field, out)
      if not is_whole(value) or value < least then
        return was(field, value, "a whole number of at least " .. least)
      end
      out[field] = value
      return true
    end
  end

  local function duration(value, field, out)
    if type(value) ~= "string" then
      return was(field, value, 'a duration such as "250ms", "1m30s" or "1d"')
    end
    local us, message = host.duration(value, field)
    out[field .. "_us"] = us
    return us and true, message
  end

  -- "10/s" says rate and period at once; a number leaves the period to be given.
  local function rate(value, field, out, options)
    if type(value) == "string" then
      if options.period ~= nil then
        return nil, string.format("period was %s; leave it out, for rate names it", quoted(options.period))
      end
      local whole, period_us = host.rate(value, field)
      if not whole then
        return nil, period_us
      end
      out.rate, out.period_us = whole, period_us
      return true
    end
    if not is_whole(value) or value < 1 then
      return was(field, value, 'a rate such as "10/s" or "100 per minute", or a whole number of at least 1')
    end
    if options.period == nil then
      return nil, string.format('period is missing; rate was %d, so give period = "1s" or rate = "%d/s"', value, value)
    end
    out.rate = value
    return true
  end

  local readers = {
    name = text, shadow = flag, strict = flag, count_denied = flag, rate = rate,
    period = duration, window = duration, offset = duration, gap = duration, ttl = duration,
    limit = count_from(0), burst = count_from(0), queue = count_from(0), slots = count_from(1),
  }

  local function read(options, names, needed, out)
    for i = 1, #names do
      local field = names[i]
      local value = options[field]
      if value ~= nil then
        local ok, message = readers[field](value, field, out, options)
        if not ok then
          return nil, message
        end
      elseif needed then
        return nil, field .. " is missing; it must be given"
      end
    end
    return true
  end

  local function check_names(options, spec)
    local all = table.concat(spec.needed, ", ") .. ", " .. table.concat(spec.optional, ", ")
    for field in pairs(options) do
      if type(field) ~= "string" or not string.find(", " .. all .. ",", ", " .. field .. ",", 1, true) then
        return nil, string.format("%s is no option; the options are %s", quoted(field), all)
      end
    end
    return true
  end

  local function make(algorithm, spec, options)
    if type(options) ~= "table" then
      return was("options", options, 'a table such as { name = "login", ... }')
    end
    local out = { algorithm = algorithm }
    local ok, message = check_names(options, spec)
    if ok then
      ok, message = read(options, spec.needed, true, out)
    end
    if ok then
      ok, message = read(options, spec.optional, false, out)
    end
    if not ok then
      return nil, message
    end
    return host.limit(out)
  end

  local weir = { address = address, deny = host.deny }

  for algorithm, spec in pairs(algorithms) do
    weir[algorithm] = function(options)
      local limit, message = make(algorithm, spec, options)
      if not limit then
        error(algorithm .. ": " .. message, 2)
      end
      return limit
    end
  end

  --- A duration as people write it, in microseconds.
  function weir.duration(value)
    local out = {}
    local ok, message = duration(value, "duration", out)
    if not ok then
      error(message, 2)
    end
    return out.duration_us
  end

  return weir
end
