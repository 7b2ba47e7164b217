--- fill: a bucket may take 2^50 us to fill, which is 35 years, and no longer.

local quoted = require "wire.quoted"
local scale = require "algorithm.scale"

-- Returns an error or nil; name and text are those of the argument that is too large.
return function(rate, period, burst, name, text)
  local spans, most = burst * period, 2^50 * rate
  if spans < most then
    return nil
  end
  if spans == most then
    -- Both products may have been rounded.
    local span, rest = scale(burst, period, rate)
    if span < 2^50 or span == 2^50 and rest == 0 then
      return nil
    end
  end
  local given = quoted(text)
  return "WEIR_INVALID " .. name .. " was " .. given
    .. ", with which the bucket would take more than 1125899906842624 us to fill"
end
