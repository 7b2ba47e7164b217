--- wrong_type: a key of another type holds what weir did not write; other errors stay what they are.

return function(message)
  if string.find(message, "WRONGTYPE", 1, true) then
    return "WEIR_STATE the key holds a value of another type, which weir did not write"
  end
  return message
end
