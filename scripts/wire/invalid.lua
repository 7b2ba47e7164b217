--- invalid: the sentence for the first argument that is not the whole number it should be.

local quoted = require "wire.quoted"
local natural = require "wire.natural"

-- wanted: name, least and most, one argument after the other from `first` on.
return function(arguments, first, wanted)
  local message
  for entry = 1, #wanted, 3 do
    local text, least, most = arguments[first + (entry - 1) / 3], wanted[entry + 1], wanted[entry + 2]
    local number = natural(text, most)
    if not number or number < least then
      local given = quoted(text)
      message = string.format("WEIR_INVALID %s was %s, not a whole number from %.0f to %.0f",
        wanted[entry], given, least, most)
      break
    end
  end
  return message
end
