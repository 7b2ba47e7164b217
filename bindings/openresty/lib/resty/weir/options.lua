--- options: a table of options, every name known and every value of its kind.
--
-- local given = options.read(table, { "size", "name", ... })
-- given:text(name)       text without a NUL
-- given:size(name)       bytes, from "16MiB" and the like or a whole number
-- given:duration(name)   microseconds, from "50ms" and the like
-- given:whole(name)      a whole number from 1
-- given:flag(name)       true or false
-- given:refuse(name, wanted), given:fail(sentence)    say that an option is wrong
-- given.wrong            the first mistake as a sentence, or nil
--
-- An option that is absent is nil; so is a wrong one, and then `wrong` says why.

local core = require "resty.weir.core"
local ffi = require "ffi"

local number = ffi.new "int64_t[1]"
local units = { KiB = 2 ^ 10, MiB = 2 ^ 20, GiB = 2 ^ 30 }

local Options = {}
Options.__index = Options

function Options:fail(sentence)
  self.wrong = self.wrong or sentence
end

function Options:refuse(name, wanted)
  local _, message = core.invalid(name, self.table[name], wanted)
  self:fail(message)
end

function Options:text(name)
  local value = self.table[name]
  if value == nil or type(value) == "string" and not value:find("\0", 1, true) then
    return value
  end
  self:refuse(name, "text without a NUL")
end

function Options:whole(name)
  local value = self.table[name]
  if value == nil or core.whole(value, name, 2 ^ 53) and value > 0 then
    return value
  end
  self:refuse(name, "a whole number from 1 to 2^53")
end

function Options:size(name)
  local value = self.table[name]
  local bytes = value
  if type(value) == "string" then
    local digits, unit = value:match "^(%d+)(%aiB)$"
    bytes = digits and units[unit] and #digits < 10 and tonumber(digits) * units[unit]
  end
  if value == nil or core.whole(bytes, name, 2 ^ 53) and bytes > 0 then
    return bytes
  end
  self:refuse(name, 'a size such as "16MiB" (KiB, MiB, GiB) or bytes')
end

function Options:duration(name)
  local text = self:text(name)
  if not text then
    return nil
  end
  if core.lib.weir_duration_parse(text, name, number, core.error) ~= 0 then
    return self:fail(ffi.string(core.error.message))
  end
  if number[0] == 0 then
    return self:refuse(name, "at least 1us")
  end
  return tonumber(number[0])
end

function Options:flag(name)
  local value = self.table[name]
  if value == nil or type(value) == "boolean" then
    return value
  end
  self:refuse(name, "true or false")
end

local options = {}

local function first_unknown(table, names)
  local known = {}
  for _, name in ipairs(names) do
    known[name] = true
  end
  for name in pairs(table) do
    if not known[name] then
      return ("%s is no option; the options are %s"):format(tostring(name), _G.table.concat(names, ", "))
    end
  end
end

function options.read(table, names)
  if type(table) ~= "table" then
    local _, message = core.invalid("options", table, "a table")
    return setmetatable({ table = {}, wrong = message }, Options)
  end
  return setmetatable({ table = table, wrong = first_unknown(table, names) }, Options)
end

return options
