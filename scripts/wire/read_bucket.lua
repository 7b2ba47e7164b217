--- read_bucket: a bucket's state is one integer, or "full_at part/over" where its interval is not whole.

local foreign = require "wire.foreign"
local whole = require "wire.whole"

-- Returns an error or nil, full_at, part and over; full_at nil for a bucket that was never touched.
return function(state, algorithm)
  if not state then
    return nil, nil, 0, 1
  end
  local full_at, part, over = whole(state, 0, 2^53), 0, 1
  if not full_at then
    local at, above, below = string.match(state, "^(%d+) (%d+)/(%d+)$")
    full_at = whole(at, 0, 2^53)
    part = whole(above, 1, 2^40)
    over = whole(below, 1, 2^40)
    if not (full_at and part and over) or part >= over then
      return foreign(algorithm)
    end
  end
  return nil, full_at, part, over
end
