--- list: op, and the checks that follow one after the other, one a key.

local natural = require "wire.natural"
local quoted = require "wire.quoted"

-- Returns an error or nil, op, and a table a check: algorithm, first (where its parameters start),
-- cost (concurrency: the id).
return function(keys, arguments)
  local op = arguments[2]
  if op ~= "take" and op ~= "peek" and op ~= "refund" and op ~= "charge" then
    local given = quoted(op)
    return "WEIR_INVALID op was " .. given .. ", not take, peek, refund or charge"
  end
  if #keys == 0 then
    return "WEIR_INVALID keys: at least one is wanted"
  end
  local parameters = {
    token_bucket = "3", leaky_bucket = "3", fixed_window = "3", sliding_log = "3",
    sliding_counter = "4", min_gap = "2", concurrency = "2",
  }
  local checks, seen, following, message = {}, {}, 3, nil
  for index, key in ipairs(keys) do
    local algorithm, count = arguments[following], arguments[following + 1]
    local expected = parameters[algorithm or ""]
    local check = { algorithm = algorithm, first = following + 2, delay = 0 }
    if key == "" or seen[key] then
      local given = quoted(key)
      message = "WEIR_INVALID key was " .. given .. ", which is empty or twice in the list"
    elseif not expected then
      local given = quoted(algorithm)
      message = "WEIR_INVALID algorithm was " .. given .. ", which is none of those there are"
    elseif count ~= expected then
      local given = quoted(count)
      message = "WEIR_INVALID number of parameters was " .. given .. ", where " .. algorithm
        .. " takes " .. expected
    else
      following = following + 3 + expected
      local text = arguments[following - 1]
      if algorithm ~= "concurrency" then
        check.cost = natural(text, 2^43)
        if not check.cost then
          local given = quoted(text)
          message = "WEIR_INVALID cost was " .. given .. ", not a whole number from 0 to 8796093022208"
        end
      else
        check.cost = text or ""
        if op == "refund" or op == "charge" then
          message = "WEIR_INVALID op was " .. op .. ", which concurrency does not have"
        elseif check.cost == "" and op == "take" then
          message = "WEIR_INVALID id is missing: it says who holds the place"
        end
      end
    end
    if message then
      break
    end
    seen[key], checks[index] = true, check
  end
  if not message and arguments[following] then
    local given = quoted(arguments[following])
    message = "WEIR_INVALID arguments: " .. given .. " follows the last check, where nothing is expected"
  end
  return message, op, checks
end
