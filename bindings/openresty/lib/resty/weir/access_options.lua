--- access_options: reads what a limiter of the access phase is made from, once for all requests.
--
-- read(given)   store; limits and key, or checks, or policy; alone, the limit that is the only one and holds no place;
--               request, response, form and settings (of headers.lua), status, error_status, on_error, on_refused,
--               shadow and max_delay_us. Else nil and what was wrong

local headers = require "resty.weir.headers"
local limit = require "resty.weir.limit"
local request = require "resty.weir.request"

local function shown(value)
  return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

local function was(field, value, wanted)
  return nil, ("%s was %s; it must be %s"):format(field, shown(value), wanted)
end

local function one_of(...)
  local names = { ... }
  return function(value, field)
    for _, name in ipairs(names) do
      if value == name then
        return value
      end
    end
    return was(field, value, '"' .. table.concat(names, '", "', 1, #names - 1) .. '" or "' .. names[#names] .. '"')
  end
end

local function of_type(kind, wanted)
  return function(value, field)
    if type(value) ~= kind then
      return was(field, value, wanted)
    end
    return value
  end
end

local a_function = of_type("function", "a function")
local a_flag = of_type("boolean", "true or false")

local function an_error_status(least)
  return function(value, field)
    if type(value) ~= "number" or value % 1 ~= 0 or value < least or value > 599 then
      return was(field, value, ("an HTTP status from %d to 599"):format(least))
    end
    return value
  end
end

local function with_verbs(wanted, ...)
  local verbs = { ... }
  return function(value, field)
    for _, verb in ipairs(verbs) do
      if type(value) ~= "table" or type(value[verb]) ~= "function" then
        return was(field, value, wanted)
      end
    end
    return value
  end
end

local function a_duration(value, field)
  if type(value) ~= "string" then
    return was(field, value, 'a duration such as "250ms" or "5s"')
  end
  local ran, us = pcall(limit.duration, value)
  if not ran then
    return was(field, value, 'a duration such as "250ms" or "5s"')
  end
  return us
end

local function a_key(value, field)
  if type(value) == "function" then
    return value
  end
  if type(value) ~= "string" or value == "" then
    return was(field, value, 'a function or a text such as "$http_x_api_key"')
  end
  return request.reader(value)
end

local function is_limit(value)
  return type(value) == "table" and type(value.algorithm) == "string" and value.c ~= nil
end

local function some_limits(value, field)
  if is_limit(value) then
    value = { value }
  end
  if type(value) ~= "table" or #value < 1 or #value > 32 then
    return was(field, value, "a list of 1 to 32 limits")
  end
  for i, one in ipairs(value) do
    if not is_limit(one) then
      return was(("%s[%d]"):format(field, i), one, "a limit, such as weir.token_bucket { ... } makes")
    end
  end
  return value
end

local readers = {
  store = with_verbs("a store, such as weir.shared { ... } opens", "take", "take_all", "release"),
  limits = some_limits,
  key = a_key,
  checks = a_function,
  policy = with_verbs("a policy, such as weir.policy { ... } opens", "decide", "respond"),
  request = a_function,
  response = a_function,
  headers = one_of("draft_08", "draft_07", "draft_06", "x_seconds", "x_epoch", "none"),
  problem = a_flag,
  status = an_error_status(400),
  error_status = an_error_status(400),
  on_error = one_of("error", "deny", "allow"),
  on_refused = a_function,
  shadow = a_flag,
  max_delay = a_duration,
}

local function read_all(given)
  if type(given) ~= "table" then
    return was("options", given, "a table such as { store = store, limits = { limit } }")
  end
  local out = {}
  for field, value in pairs(given) do
    local reader = readers[field]
    if not reader then
      local names = {}
      for name in pairs(readers) do
        names[#names + 1] = name
      end
      table.sort(names)
      return nil, ("%s is no option; the options are %s"):format(shown(field), table.concat(names, ", "))
    end
    local message
    out[field], message = reader(value, field)
    if message then
      return nil, message
    end
  end
  return out
end

-- How long the last place of a queue waits.
local function longest_us(one)
  return one.algorithm == "leaky_bucket" and (one.limit - 1) * tonumber(one.c.period) / tonumber(one.c.rate) or 0
end

local function check_delays(limits, max_delay_us)
  for _, one in ipairs(limits) do
    local us = longest_us(one)
    if us > max_delay_us then
      return nil, ("max_delay was %.0f us, and the last in the queue of %s waits %.0f us: give it a shorter queue or "
        .. "raise max_delay"):format(max_delay_us, tostring(one), us)
    end
  end
  return true
end

return function(given)
  local out, message = read_all(given)
  if not out then
    return nil, message
  end
  if not out.store then
    return nil, "store is missing; it must be given"
  end
  local ways = (out.limits and 1 or 0) + (out.checks and 1 or 0) + (out.policy and 1 or 0)
  if ways ~= 1 then
    return nil, ("%d of limits, checks and policy were given; it must be one"):format(ways)
  end
  if out.key and not out.limits then
    return nil, "key was given without limits, which it is for"
  end
  if (out.request or out.response) and not out.policy then
    return nil, (out.request and "request" or "response") .. " was given without a policy, which it is for"
  end
  if out.shadow and out.on_error then
    return nil, "on_error was given with shadow, which lets all pass"
  end
  out.max_delay_us = out.max_delay or 5000000
  if out.limits then
    local ok
    ok, message = check_delays(out.limits, out.max_delay_us)
    if not ok then
      return nil, message
    end
    out.key = out.key or request.network
    out.alone = #out.limits == 1 and out.limits[1].algorithm ~= "concurrency" and out.limits[1] or nil
  end
  out.form = out.headers or "draft_08"
  out.settings = headers.settings { form = out.form, body = out.problem }
  out.on_error, out.status, out.error_status = out.on_error or "error", out.status or 429, out.error_status or 503
  return out
end
