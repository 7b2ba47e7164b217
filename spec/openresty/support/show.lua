--- show: a value as text, the same in every Lua: tables by sorted names, numbers exactly.

local function show(value)
  if type(value) == "number" then
    return ("%.17g"):format(value)
  end
  if type(value) == "string" then
    return ("%q"):format(value)
  end
  if type(value) ~= "table" then
    return tostring(value)
  end
  local names = {}
  for name in pairs(value) do
    names[#names + 1] = name
  end
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for i, name in ipairs(names) do
    names[i] = tostring(name) .. " = " .. show(value[name])
  end
  return "{ " .. table.concat(names, ", ") .. " }"
end

return show
