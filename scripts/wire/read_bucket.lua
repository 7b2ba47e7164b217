--- read_bucket: a bucket's state is one integer, or "full_at part/over" where its interval is not whole.

local foreign = require "wire.foreign"
local natural = require "wire.natural"
local positive = require "wire.positive"

-- Returns an error or nil, full_at, part and over; full_at nil for a bucket that was never touched.
return function(state, algorithm)
  if not state then
    return nil, nil, 0, 1
  end
  local full_at = natural(state, 9007199254740991)
  if full_at then
    return nil, full_at, 0, 1
  end
  local at, above, below = string.match(state, "^(%d+) (%d+)/(%d+)$")
  full_at = natural(at, 9007199254740991)
  local part = positive(above, 2^40)
  local over = positive(below, 2^40)
  if not (full_at and part and over) or part >= over then
    return foreign(algorithm)
  end
  return nil, full_at, part, over
end
