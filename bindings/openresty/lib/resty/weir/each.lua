--- each: calls a function with the places of a list in turn, as long as it answers.
--
-- each(1, count, f, a, b, c, d)   calls f(i, a, b, c, d) from 1 to count. true; or nil, message, code of the
--                                 first without an answer
--
-- Recursion in place of a loop: a list of checks has one or two mostly, and LuaJIT gives up a function whose loops end
-- after a turn, and with it whatever calls that. Tail calls it follows, though only 15 in all.

local function each(i, count, f, a, b, c, d)
  if i > count then
    return true
  end
  local fine, message, code = f(i, a, b, c, d)
  if not fine then
    return nil, message, code
  end
  if i == count then
    return true
  end
  return each(i + 1, count, f, a, b, c, d)
end

return each
