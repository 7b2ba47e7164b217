--- value: the string under a key; false when there is none.

local wrong_type = require "wire.wrong_type"

local try = redis.pcall

-- Returns an error or nil, and the string.
return function(key)
  local state = try("GET", key)
  if state and state.err then
    return wrong_type(state.err)
  end
  return nil, state
end
