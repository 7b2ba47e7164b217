--- request: the one key, and cost and op, which follow the parameters.

local natural = require "wire.natural"
local quoted = require "wire.quoted"

-- `count` parameters come first. Returns an error or nil, cost and op.
return function(keys, arguments, count)
  if keys[2] or keys[1] == nil or keys[1] == "" then
    return "WEIR_INVALID key: one is wanted, which is not empty"
  end
  local cost, op, text = 1, "take", arguments[count + 1]
  if text and text ~= "1" then
    cost = natural(text, 2^43)
    if not cost then
      local given = quoted(text)
      return "WEIR_INVALID cost was " .. given .. ", not a whole number from 0 to 8796093022208"
    end
  end
  if arguments[count + 2] then
    op = arguments[count + 2]
    if op ~= "take" and op ~= "peek" and op ~= "refund" and op ~= "charge" then
      local given = quoted(op)
      return "WEIR_INVALID op was " .. given .. ", not take, peek, refund or charge"
    end
    if arguments[count + 4] then
      local given = quoted(arguments[count + 4])
      return "WEIR_INVALID arguments: " .. given .. " follows now_us, where nothing is expected"
    end
  end
  return nil, cost, op
end
