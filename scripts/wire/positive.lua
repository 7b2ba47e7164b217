--- positive: a number from 1 to most as weir writes it, digits without a sign, blank or zero before them; else nil.

local find = string.find

return function(text, most)
  if text and find(text, "^[1-9]%d*$") then
    local number = text + 0.0
    if number <= most then
      return number
    end
  end
  return nil
end
