--- fraction: the simplest fraction that stands for a number as somebody wrote it.
--
-- fraction(value, numerator_most, denominator_most)    numerator, denominator
--
-- 0.1 is 1/10 and 100 / 60 is 5/3, though neither is a sum of powers of two: the first convergent of the continued
-- fraction that divides to the very same number. One that would need more than the bounds allow is the last convergent
-- within them, which is as near as bounds of that size can come. The value must be from 1 / denominator_most to
-- numerator_most.

local floor = math.floor

return function(value, numerator_most, denominator_most)
  local numerator, denominator, numerator_before, denominator_before = 1, 0, 0, 1
  local rest = value
  repeat
    local whole = floor(rest)
    local above, below = whole * numerator + numerator_before, whole * denominator + denominator_before
    if above > numerator_most or below > denominator_most then
      break
    end
    numerator, denominator, numerator_before, denominator_before = above, below, numerator, denominator
    rest = 1 / (rest - whole)
  until numerator / denominator == value
  return numerator, denominator
end
