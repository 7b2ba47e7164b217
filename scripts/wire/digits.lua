--- digits: a whole number below 2^53 as text, with every digit.
--
-- "%.0f" alone would do, at twice the cost; "%d" takes no more than a long, which may have 32 bits.

local format = string.format

return function(number)
  if number < 2^31 then
    return format("%d", number)
  end
  local low = number % 1000000000
  return format("%d%09d", (number - low) / 1000000000, low)
end
