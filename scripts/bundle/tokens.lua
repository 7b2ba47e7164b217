--- tokens: Lua text as a list of tokens without comments, and back.

local tokens = {}

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function if in local nil not or repeat return
  then true until while]]):gmatch("%a+") do
  KEYWORDS[word] = true
end

-- Tried in this order at each place; the first that matches is the token.
local KINDS = {
  { "name", "^[%a_][%w_]*" },
  { "number", "^%d[%w.]*" },
  { "string", '^"[^"\n]*"' },
  { "string", "^'[^'\n]*'" },
  { "symbol", "^%.%.%.?" },
  { "symbol", "^[=~<>]=" },
  { "symbol", "^[%+%-%*/%%%^#<>=%(%){}%[%];:,%.]" },
}

-- A token is { kind, text, line: whether it starts a line }.
function tokens.read(text, name)
  local list, place, line = {}, 1, true
  while true do
    local blank = text:match("^%s*", place)
    line = line or blank:find("\n", 1, true) ~= nil
    place = place + #blank
    if place > #text then
      return list
    end
    local comment = text:match("^%-%-[^\n]*", place)
    if comment then
      place = place + #comment
    else
      local found
      for _, kind in ipairs(KINDS) do
        found = text:match(kind[2], place)
        if found then
          list[#list + 1] = { kind = KEYWORDS[found] and "keyword" or kind[1], text = found, line = line }
          break
        end
      end
      if not found then
        error(name .. ": cannot be read from " .. text:sub(place, place + 20), 0)
      end
      place, line = place + #found, false
    end
  end
end

local OPENS = { ["do"] = true, ["then"] = true, ["repeat"] = true, ["function"] = true, ["else"] = true,
  ["{"] = true, ["("] = true, ["["] = true }
local CLOSES = { ["end"] = true, ["until"] = true, ["else"] = true, ["elseif"] = true,
  ["}"] = true, [")"] = true, ["]"] = true }

-- Whether a blank stands between two tokens of one line.
local function apart(a, b)
  if b.text == "," or b.text == ")" or b.text == "]" or b.text == "." or b.text == ":" or b.text == ";" then
    return false
  elseif a.text == "(" or a.text == "[" or a.text == "." or a.text == ":" or a.text == "#" then
    return false
  elseif b.text == "(" then
    return a.kind ~= "name" and a.text ~= "function" and a.text ~= ")"
  elseif b.text == "[" then
    return a.kind ~= "name" and a.text ~= "]" and a.text ~= ")"
  end
  return true
end

function tokens.write(list)
  local out, depth = {}, 0
  for index, token in ipairs(list) do
    if CLOSES[token.text] and token.kind ~= "string" then
      depth = depth - 1
    end
    if token.line and index > 1 then
      out[#out + 1] = "\n" .. ("  "):rep(depth)
    elseif index > 1 and apart(list[index - 1], token) then
      out[#out + 1] = " "
    end
    out[#out + 1] = token.text
    if OPENS[token.text] and token.kind ~= "string" then
      depth = depth + 1
    end
  end
  return table.concat(out) .. "\n"
end

return tokens
