--- foreign: the sentence for a value that this algorithm did not write.

return function(algorithm)
  return "WEIR_STATE the key holds a value that " .. algorithm .. " did not write"
end
