--- value: the string under a key; false when there is none.

local wrong_type = require "wire.wrong_type"

-- Returns an error or nil, and the string.
return function(key)
  local state = redis.pcall("GET", key)
  if state and state.err then
    return wrong_type(state.err)
  end
  return nil, state
end
