--- scale: a x b / c as a whole number and a rest, exact where the product is beyond a double.
--
-- a, b, c and the quotient are whole and below 2^52.

return function(a, b, c)
  if b == 0 or a < 2^53 / b then
    local product = a * b
    local rest = product % c
    return (product - rest) / c, rest
  end
  -- Doubles give the quotient to a unit or two. Its remainder, taken in limbs of 26 bits so that no
  -- product rounds, says by how much it is off.
  local quotient = math.floor(a / c * b)
  local a0, b0, c0, q0 = a % 2^26, b % 2^26, c % 2^26, quotient % 2^26
  local a1, b1, c1, q1 = (a - a0) / 2^26, (b - b0) / 2^26, (c - c0) / 2^26, (quotient - q0) / 2^26
  local high, middle, low = a1 * b1 - q1 * c1, a1 * b0 - q1 * c0 + (a0 * b1 - q0 * c1), a0 * b0 - q0 * c0
  local rest = (high * 2^26 + middle) * 2^26 + low
  while rest < 0 do
    quotient, rest = quotient - 1, rest + c
  end
  while rest >= c do
    quotient, rest = quotient + 1, rest - c
  end
  return quotient, rest
end
