--- header: what the comment at the top of an entry says of it, as fields.

-- "-- ARGV      rate, ..." is the field argv; a line that is further indented goes on with the last.
return function(text, name)
  local fields, last = { comment = {} }, nil
  for line in text:gmatch("[^\n]*\n?") do
    line = line:gsub("\n$", "")
    if line:sub(1, 2) ~= "--" then
      break
    end
    fields.comment[#fields.comment + 1] = line
    local idea = line:match("^%-%-%- [%w_]+: (.+)$")
    local field, value = line:match("^%-%- ([A-Z][%a]+)[%[%]1]* +(.+)$")
    if idea then
      fields.idea = idea
    elseif field then
      last = field:lower()
      fields[last] = value
    elseif last then
      fields[last] = fields[last] .. " " .. line:match("^%-%- +(.+)$")
    end
  end
  for _, field in ipairs { "idea", "keys", "argv", "reply", "writes", "commands" } do
    if not fields[field] then
      error(name .. ": its header does not say " .. field, 0)
    end
  end
  fields.comment = table.concat(fields.comment, "\n") .. "\n"
  return fields
end
