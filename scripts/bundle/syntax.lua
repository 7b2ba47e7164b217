--- syntax: what can be seen in a list of tokens without a grammar: names, brackets, lists, assignments.

local syntax = {}

local BRACKET = { ["("] = 1, ["{"] = 1, ["["] = 1, [")"] = -1, ["}"] = -1, ["]"] = -1 }

local function is(token, text)
  return token ~= nil and token.text == text and token.kind ~= "string"
end

local function word(text, line)
  local kind = text:find("^[%a_]") and "name" or "symbol"
  if text == "local" or text == "repeat" or text == "until" or text == "true" or text == "do"
    or text == "end" or text == "break" or text == "nil" then
    kind = "keyword"
  end
  return { kind = kind, text = text, line = line }
end

local function append(list, more)
  for _, token in ipairs(more) do
    list[#list + 1] = token
  end
end

local function slice(list, first, last)
  local part = {}
  for index = first, last do
    part[#part + 1] = list[index]
  end
  return part
end

-- Whether the innermost open bracket before index is that of a table.
local function in_table(list, index)
  local depth = 0
  for place = index - 1, 1, -1 do
    local change = list[place].kind ~= "string" and BRACKET[list[place].text]
    if change then
      depth = depth + change
      if depth > 0 then
        return list[place].text == "{"
      end
    end
  end
  return false
end

-- Whether the name at index is a variable: not a field, not a key of a table.
local function is_variable(list, index)
  local before, after = list[index - 1], list[index + 1]
  if list[index].kind ~= "name" or is(before, ".") or is(before, ":") then
    return false
  end
  return not (is(after, "=") and (is(before, "{") or is(before, ",")) and in_table(list, index))
end

local function closing(list, open)
  local depth = 0
  for index = open, #list do
    local change = list[index].kind ~= "string" and BRACKET[list[index].text]
    depth = depth + (change or 0)
    if depth == 0 then
      return index
    end
  end
end

-- The expressions of a list, parted at its commas.
local function parted(list)
  local parts, part, depth = {}, {}, 0
  for _, token in ipairs(list) do
    depth = depth + (token.kind ~= "string" and BRACKET[token.text] or 0)
    if depth == 0 and is(token, ",") then
      parts[#parts + 1], part = part, {}
    else
      part[#part + 1] = token
    end
  end
  if #part > 0 then
    parts[#parts + 1] = part
  end
  return parts
end

-- Names that the tokens declare, and names that they assign to.
local function declared(list)
  local names, assigned = {}, {}
  for index, token in ipairs(list) do
    local place = index + 1
    if is(token, "local") and is(list[place], "function") then
      names[list[place + 1].text] = true
    elseif is(token, "local") or is(token, "for") then
      while list[place] and list[place].kind == "name" do
        names[list[place].text] = true
        place = place + (is(list[place + 1], ",") and 2 or 1)
      end
    elseif is(token, "function") then
      local open = is(list[place], "(") and place or place + 1
      for _, parameter in ipairs(slice(list, open + 1, closing(list, open) - 1)) do
        names[parameter.text] = true
      end
    elseif is(token, "=") then
      place = index - 1
      while list[place] and list[place].kind == "name" do
        assigned[list[place].text] = true
        place = is(list[place - 1], ",") and place - 2 or 0
      end
    end
  end
  return names, assigned
end

-- What stands before the `=` of an assignment, and where it starts.
local function targets_before(list, equals)
  local place = equals - 1
  while true do
    if is(list[place], "]") then
      local depth = 0
      repeat
        depth = depth + (BRACKET[list[place].text] or 0)
        place = place - 1
      until depth == 0
    elseif is(list[place - 1], ".") then
      place = place - 2
    elseif is(list[place - 1], ",") then
      place = place - 2
    else
      break
    end
  end
  return slice(list, place, equals - 1), place
end

-- The names that a list of tokens uses as variables.
local function used(list, into)
  for index, token in ipairs(list) do
    if is_variable(list, index) then
      into[token.text] = true
    end
  end
  return into
end

-- Whether an argument is a constant, so that it may be written wherever its parameter stands.
local function is_constant(argument)
  for _, token in ipairs(argument) do
    if not (token.kind == "number" or is(token, "^") or is(token, "nil") or is(token, "true")
      or is(token, "false") or token.kind == "string" and #argument == 1) then
      return false
    end
  end
  return true
end

-- Tokens with some variables replaced, each by a list of tokens.
local function replace(list, by)
  local out = {}
  for index, token in ipairs(list) do
    local instead = is_variable(list, index) and by[token.text]
    if not instead then
      out[#out + 1] = token
    else
      local first = #out + 1
      if #instead > 1 then
        out[first] = word("(")
      end
      append(out, instead)
      if #instead > 1 then
        out[#out + 1] = word(")")
      end
      out[first] = { kind = out[first].kind, text = out[first].text, line = token.line }
    end
  end
  return out
end

syntax.is = is
syntax.word = word
syntax.append = append
syntax.slice = slice
syntax.is_variable = is_variable
syntax.closing = closing
syntax.parted = parted
syntax.declared = declared
syntax.targets_before = targets_before
syntax.used = used
syntax.is_constant = is_constant
syntax.replace = replace
syntax.bracket = BRACKET -- 1 for one that opens, -1 for one that closes

return syntax
