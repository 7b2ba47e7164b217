--- invalid: the sentence for the first argument that is not the whole number it should be.

local quoted = require "wire.quoted"
local whole = require "wire.whole"

-- wanted: name, least and most, one argument after the other from `first` on.
return function(arguments, first, wanted)
  local message
  for entry = 1, #wanted, 3 do
    local text, least, most = arguments[first + (entry - 1) / 3], wanted[entry + 1], wanted[entry + 2]
    local number = whole(text, least, most)
    if not number then
      local given = quoted(text)
      message = string.format("WEIR_INVALID %s was %s, not a whole number from %.0f to %.0f",
        wanted[entry], given, least, most)
      break
    end
  end
  return message
end
