--- search: the first index in [low, high) whose instant is later than `instant`; high if none is.
--
-- at(index) never falls as index grows, and costs a command: most often the first one is the
-- answer, so the search looks there and then gallops.

local floor = math.floor

return function(at, low, high, instant)
  local stride = 0
  while low + stride < high do
    if at(low + stride) > instant then
      high = low + stride
      break
    end
    low, stride = low + stride + 1, stride * 2 + 1
  end
  while low < high do
    local middle = floor((low + high) / 2)
    if at(middle) > instant then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end
