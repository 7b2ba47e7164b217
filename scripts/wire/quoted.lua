--- quoted: what a caller gave, as one may print it.

return function(text)
  if text == nil then
    return "missing"
  end
  if #text > 40 then
    text = string.sub(text, 1, 40) .. "..."
  end
  text = string.gsub(text, "[^ -~]", "?")
  return '"' .. text .. '"'
end
