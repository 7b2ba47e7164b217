--- inline: the text of a script and of all the modules that it requires, each written where it is called.
--
-- A server runs a script's whole text at each call, so a module that is a function would be made
-- anew each time. A module that is called as a statement can stand in its place instead: parameters
-- become locals, `return` an assignment and a `break` out of `repeat ... until true`. So a module is
--   requires and locals, then `return function(...) ... end` with no `return` inside a loop,
-- and is called only by `a, b = module(...)`, `local a, b = module(...)`, `module(...)` as a
-- statement, or `return module(...)`. Locals before the function go to the top of the script, once.
-- What does not keep to this is refused here, by name.

local syntax = require "bundle.syntax"
local tokens = require "bundle.tokens"

local BRACKET = syntax.bracket
local is = syntax.is
local word = syntax.word
local append = syntax.append
local slice = syntax.slice
local is_variable = syntax.is_variable
local closing = syntax.closing
local parted = syntax.parted
local declared = syntax.declared
local targets_before = syntax.targets_before
local used = syntax.used
local is_constant = syntax.is_constant
local replace = syntax.replace

local inline = {}

-- A local of one of these names could hide what an inlined module means by it.
local GLOBALS = {}
for name in ([[KEYS ARGV redis math string table tonumber tostring type ipairs pairs next unpack
  select error pcall]]):gmatch("%a+") do
  GLOBALS[name] = true
end

-- Writes targets = values. One by one costs half of what Lua does for a list, which moves all values
-- twice; that takes no value that uses a target, and no call that answers more than one. Targets
-- that are fresh are nil already.
local function assign(out, targets, fresh, values, line)
  local lefts, rights = parted(targets), parted(values)
  local names, single = used(targets, {}), #rights > 0 and not is(rights[#rights][#rights[#rights]], ")")
  for place, right in ipairs(rights) do
    for text in pairs(used(right, {})) do
      single = single and not names[text]
    end
    single = single and (place <= #lefts or #right == 1)
  end
  if not single then
    lefts, rights = { targets }, { #values > 0 and values or { word("nil") } }
  end
  for place = #rights + 1, #lefts do
    rights[place] = { word("nil") }
  end
  for place = #lefts, 1, -1 do
    if single and fresh and is(rights[place][1], "nil") then
      table.remove(lefts, place)
      table.remove(rights, place)
    end
  end
  for place, left in ipairs(lefts) do
    for index, token in ipairs(left) do
      local starts = index == 1 and (place > 1 or line)
      out[#out + 1] = { kind = token.kind, text = token.text, line = starts }
    end
    out[#out + 1] = word("=")
    append(out, rights[place])
  end
end

-- `return` becomes an assignment to the targets and a way out of the block.
local function with_targets(body, targets, fresh, name)
  local out, stack, returns, last = {}, {}, 0, nil
  local index = 1
  while index <= #body do
    local token = body[index]
    local inside = stack[#stack]
    if is(token, "return") and not (inside and inside.foreign) then
      if inside and inside.loop then
        error(name .. ": a return inside a loop cannot be inlined", 0)
      end
      local stop, depth, blocks = index + 1, 0, 0
      while body[stop] do
        local text = body[stop].kind ~= "string" and body[stop].text
        if blocks == 0 and (text == "end" or text == "else" or text == "elseif" or text == "until") then
          break
        end
        blocks = blocks + (text == "function" and 1 or text == "end" and -1 or 0)
        depth = depth + (BRACKET[text] or 0)
        stop = stop + 1
      end
      local values = slice(body, index + 1, stop - 1)
      returns, last = returns + 1, stop > #body
      if #targets > 0 then
        assign(out, targets, fresh, values, token.line)
      elseif #values > 0 then
        error(name .. ": its answer is not used", 0)
      end
      if not last then
        out[#out + 1] = word("break", true)
      end
      index = stop
    else
      local text = token.kind == "keyword" and token.text
      if text == "while" or text == "for" then
        stack[#stack + 1] = { loop = true, foreign = inside and inside.foreign, head = true }
      elseif text == "do" and inside and inside.head then
        inside.head = false
      elseif text == "repeat" then
        stack[#stack + 1] = { loop = true, foreign = inside and inside.foreign }
      elseif text == "function" then
        stack[#stack + 1] = { foreign = true }
      elseif text == "if" or text == "do" then
        stack[#stack + 1] = { loop = inside and inside.loop, foreign = inside and inside.foreign }
      elseif text == "end" or text == "until" then
        stack[#stack] = nil
      end
      out[#out + 1] = token
      index = index + 1
    end
  end
  return out, returns == 0 or returns == 1 and last
end

local Bundle = {}
Bundle.__index = Bundle

-- Reads a module and inlines what it calls. Returns { params, body } as tokens.
function Bundle:module(name)
  if self.modules[name] then
    return self.modules[name]
  end
  if self.reading[name] then
    error(name .. ": requires itself", 0)
  end
  self.reading[name] = true
  local list, requires = self:requires(name)
  local start
  for index, token in ipairs(list) do
    if is(token, "return") and is(list[index + 1], "function") then
      start = index
      break
    end
  end
  if not start or not is(list[#list], "end") then
    error(name .. ": a module ends with `return function(...) ... end`", 0)
  end
  local close = closing(list, start + 2)
  local module = {
    params = parted(slice(list, start + 3, close - 1)),
    body = self:expand(slice(list, close + 1, #list - 1), requires, name),
  }
  self:hoist(slice(list, 1, start - 1), name)
  self.modules[name], self.reading[name] = module, nil
  return module
end

-- Keeps a module's locals, `local name = value` each, for the top of the script. Several modules may
-- have the same one.
function Bundle:hoist(list, name)
  local first = 1
  for index = 2, #list + 1 do
    if is(list[index], "local") or index == #list + 1 and first <= #list then
      local statement = slice(list, first, index - 1)
      local declares, text = statement[2].text, tokens.write(statement)
      if (self.hoisted[declares] or text) ~= text then
        error(name .. ": its local " .. declares .. " is another one elsewhere", 0)
      end
      if not self.hoisted[declares] then
        self.hoisted[declares] = text
        append(self.top, statement)
      end
      first = index
    end
  end
end

-- The tokens of a file without its requires, and those: local name -> module.
function Bundle:requires(name)
  local list, rest, requires = tokens.read(self.read(name), name), {}, {}
  local index = 1
  while index <= #list do
    if is(list[index], "local") and is(list[index + 3], "require") then
      requires[list[index + 1].text] = list[index + 4].text:sub(2, -2)
      index = index + 5
    else
      rest[#rest + 1] = list[index]
      index = index + 1
    end
  end
  for declares in pairs(declared(rest)) do
    if GLOBALS[declares] or requires[declares] then
      error(name .. ": the local " .. declares .. " hides what other code means by it", 0)
    end
  end
  return rest, requires
end

-- Tokens with each call of a required module replaced by what it does.
function Bundle:expand(list, requires, name)
  local out, index = {}, 1
  while index <= #list do
    local token = list[index]
    local required = is_variable(list, index) and requires[token.text]
    if required then
      if not is(list[index + 1], "(") then
        error(name .. ": " .. token.text .. " is a module, which can only be called", 0)
      end
      local close = closing(list, index + 1)
      local following = list[close + 1]
      if following and following.kind == "symbol" or is(following, "and") or is(following, "or") then
        error(name .. ": the call of " .. token.text .. " is not a statement of its own", 0)
      end
      local arguments = parted(slice(list, index + 2, close - 1))
      self:call(out, self:module(required), arguments, required)
      index = close + 1
    else
      out[#out + 1] = token
      index = index + 1
    end
  end
  return out
end

-- Takes what is to become of a call's answer off the end of out: the targets, whether they are new
-- locals, whether the caller returns it.
local function take_targets(out, name)
  local before = out[#out]
  if is(before, "return") then
    out[#out] = nil
    return {}, false, true
  elseif is(before, "=") then
    local targets, start = targets_before(out, #out)
    local is_local = is(out[start - 1], "local")
    for place = #out, is_local and start - 1 or start, -1 do
      out[place] = nil
    end
    return targets, is_local, false
  elseif before and before.kind == "symbol" and not is(before, ")") and not is(before, "}") then
    error(name .. ": its call is not a statement of its own", 0)
  end
  return {}, false, false
end

-- Writes a call behind out, whose last tokens say what becomes of its answer.
function Bundle:call(out, module, arguments, name)
  local targets, is_local, tail = take_targets(out, name)
  local outside = used(targets, {})
  for _, argument in ipairs(arguments) do
    for text in pairs(used(argument, {})) do
      if is_local and outside[text] then
        error(name .. ": the new local " .. text .. " is one of its arguments", 0)
      end
    end
  end
  for _, argument in ipairs(arguments) do
    used(argument, outside)
  end

  -- The module's own names give way to those that its caller uses in the call.
  local names, assigned = declared(module.body)
  local renamed, sorted = {}, {}
  for text in pairs(outside) do
    sorted[#sorted + 1] = text
  end
  table.sort(sorted) -- the same bytes, and so the same SHA1, from every build
  for _, text in ipairs(sorted) do
    local meets = names[text]
    for _, parameter in ipairs(module.params) do
      meets = meets or parameter[1].text == text
    end
    if meets then
      self.made = self.made + 1
      renamed[text] = { word(text .. "_" .. self.made) }
    end
  end
  local body = replace(module.body, renamed)

  -- A parameter that keeps its value may be what it is called with, if that is a name or constant.
  local params, values, replaced = {}, {}, {}
  for place, parameter in ipairs(module.params) do
    local text, argument = parameter[1].text, arguments[place] or { word("nil") }
    local simple = is_constant(argument) or #argument == 1 and argument[1].kind == "name"
    local now_called = renamed[text] or parameter
    if simple and not assigned[text] and not names[text] then
      replaced[now_called[1].text] = argument
    else
      params[#params + 1], values[#values + 1] = now_called, argument
    end
  end
  body = replace(body, replaced)

  local function listed(lists)
    for place, list in ipairs(lists) do
      if place > 1 then
        out[#out + 1] = word(",")
      end
      append(out, list)
    end
  end
  if is_local then
    out[#out + 1] = word("local", true)
    append(out, targets)
  end
  local plain = true
  if not tail then
    body, plain = with_targets(body, targets, is_local, name)
  end
  out[#out + 1] = word(plain and "do" or "repeat", true)
  if #params > 0 then
    out[#out + 1] = word("local", true)
    listed(params)
    out[#out + 1] = word("=")
    listed(values)
  end
  append(out, body)
  out[#out + 1] = word(plain and "end" or "until", true)
  if not plain then
    out[#out + 1] = word("true")
  end
end

-- The whole text of a script. read(name) gives the text of a file: an entry's or a module's.
function inline.script(name, read)
  local bundle = setmetatable({ read = read, modules = {}, reading = {}, hoisted = {}, top = {}, made = 0 }, Bundle)
  local list, requires = bundle:requires(name)
  local body = bundle:expand(list, requires, name)
  for _, module in pairs(bundle.modules) do
    for declares in pairs(declared(module.body)) do
      if bundle.hoisted[declares] then
        error(name .. ": the local " .. declares .. " hides a module's", 0)
      end
    end
  end
  local script = bundle.top
  for index, token in ipairs(body) do
    script[#script + 1] = { kind = token.kind, text = token.text, line = token.line or index == 1 }
  end
  return tokens.write(script)
end

return inline
