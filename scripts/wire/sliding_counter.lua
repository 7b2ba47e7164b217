--- sliding_counter on the wire: limit, window_us, slots, strict; its state is "start count count ...".

local foreign = require "wire.foreign"
local invalid = require "wire.invalid"
local natural = require "wire.natural"
local positive = require "wire.positive"
local quoted = require "wire.quoted"
local take = require "algorithm.sliding_counter"

-- Parameters start at arguments[first]. Returns an error or nil, the value to keep (nil: keep
-- nothing), and the row.
return function(arguments, first, state, cost, op, now)
  local limit = natural(arguments[first], 2^40)
  local window = positive(arguments[first + 1], 2^45)
  local slots = positive(arguments[first + 2], 600)
  local strict = natural(arguments[first + 3], 1)
  if not (limit and window and slots and strict) then
    return invalid(arguments, first,
      { "limit", 0, 2^40, "window_us", 1, 2^45, "slots", 1, 600, "strict", 0, 1 })
  end
  if window % slots > 0 then
    local given = quoted(arguments[first + 2])
    return "WEIR_INVALID slots was " .. given .. ", by which window_us cannot be divided"
  end
  local start, counts
  if state then
    counts = {}
    local sound = string.find(state, "^%d[%d ]*%d$") and not string.find(state, "  ", 1, true)
    if sound then
      for text in string.gmatch(state, "%d+") do
        local number = natural(text, 9007199254740991)
        if not number or start and number > 2^50 then
          sound = false
          break
        end
        if start then
          counts[#counts + 1] = number
        else
          start = number
        end
      end
    end
    if not sound or #counts == 0 or #counts > 601 then
      return foreign("sliding_counter")
    end
  end
  local allowed, remaining, retry_after, reset_after
  start, counts, allowed, remaining, retry_after, reset_after =
    take(start, counts, limit, window, slots, strict == 1, now, cost, op)
  local record
  if start then
    local last = slots + 1
    while last > 1 and counts[last] == 0 do
      last = last - 1
    end
    if last == 1 then
      record = string.format("%.0f %.0f", start, counts[1])
    elseif last == 2 then
      record = string.format("%.0f %.0f %.0f", start, counts[1], counts[2])
    else
      local words = { string.format("%.0f", start) }
      for slot = 1, last do
        words[slot + 1] = string.format("%.0f", counts[slot])
      end
      record = table.concat(words, " ")
    end
  end
  return nil, record, allowed, limit, remaining, retry_after, reset_after, 0
end
