--- lease: the one key, and id and op, which follow the parameters of a concurrency limit.

local quoted = require "wire.quoted"

-- `count` parameters come first. Returns an error or nil, id and op.
return function(keys, arguments, count)
  if keys[2] or keys[1] == nil or keys[1] == "" then
    return "WEIR_INVALID key: one is wanted, which is not empty"
  end
  local id, op = arguments[count + 1] or "", arguments[count + 2] or "acquire"
  if op ~= "acquire" and op ~= "renew" and op ~= "release" and op ~= "peek" and op ~= "take" then
    local given = quoted(op)
    return "WEIR_INVALID op was " .. given .. ", not acquire, renew, release or peek"
  end
  if id == "" and op ~= "peek" then
    return "WEIR_INVALID id is missing: it says who holds the place"
  end
  if arguments[count + 4] then
    local given = quoted(arguments[count + 4])
    return "WEIR_INVALID arguments: " .. given .. " follows now_us, where nothing is expected"
  end
  return nil, id, op
end
