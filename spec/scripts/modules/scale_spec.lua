-- Exact products and quotients beyond 2^53.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local scale = require "algorithm.scale"

-- (a x b) mod p in steps that stay exact.
local function product_mod(a, b, p)
  return (a % p) * (b % p) % p
end

describe("scale", function()
  it("gives quotient and rest with quotient x c + rest = a x b, for numbers of all sizes", function()
    math.randomseed(7)
    local function number(bits)
      return math.floor(math.random() * 2^26) * 2^(bits - 26) + math.floor(math.random() * 2^(bits - 26))
    end
    local tried = 0
    for _ = 1, 50000 do
      local a, b, c = number(math.random(26, 51)), number(math.random(26, 45)), number(math.random(26, 50))
      if c > 0 and a / c * b < 2^51 then
        tried = tried + 1
        local quotient, rest = scale(a, b, c)
        local right = rest >= 0 and rest < c and quotient % 1 == 0
        for _, p in ipairs { 67108859, 67108837, 67108819, 65521, 65536 } do
          right = right and (product_mod(quotient, c, p) + rest % p) % p == product_mod(a, b, p)
        end
        if not right then
          assert.is_true(right, ("%.0f x %.0f / %.0f"):format(a, b, c))
        end
      end
    end
    assert.is_true(tried > 10000)
  end)

  it("is exact at its bounds", function()
    local function same(quotient, rest, a, b, c)
      local q, r = scale(a, b, c)
      assert.are.same({ ("%.0f"):format(quotient), ("%.0f"):format(rest) }, { ("%.0f"):format(q), ("%.0f"):format(r) })
    end
    same(0, 0, 0, 2^45, 3)
    same(0, 0, 2^40, 0, 3)
    same(2^45, 0, 2^50, 2^45, 2^50)
    same(2^45 - 1, 2^50 - 2^45, 2^50 - 1, 2^45, 2^50)
    same(2^45 - 1, 0, 2^50 - 1, 2^45 - 1, 2^50 - 1)
  end)
end)
