--- memo: what is made of two numbers, kept while that is little.
--
-- memo(make)    a function of two numbers that answers as make(a, b) does, and makes nothing twice
--
-- Programs written for lua-resty-limit-traffic make their objects in every request, mostly with the same numbers. What
-- fails (nil, message, code) is not kept, and of more than KEPT_MOST all is forgotten: numbers may be anything.

local KEPT_MOST = 1000

return function(make)
  local kept, count = {}, 0

  local function keep(a, b, value)
    if count == KEPT_MOST then
      kept, count = {}, 0
    end
    kept[a] = kept[a] or {}
    kept[a][b] = value
    count = count + 1
    return value
  end

  return function(a, b)
    local of_a = kept[a]
    local known = of_a and of_a[b]
    if known then
      return known
    end
    local value, message, code = make(a, b)
    if not value then
      return nil, message, code
    end
    return keep(a, b, value)
  end
end
