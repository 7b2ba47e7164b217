--- whole: a whole number as weir writes it: digits only, no sign, blank or zero before them; else nil.

local find = string.find

return function(text, least, most)
  if text and (find(text, "^[1-9]%d*$") or text == "0") then
    local number = text + 0.0
    if number >= least and number <= most then
      return number
    end
  end
  return nil
end
