--- policy_options: the options of a policy, read once.
--
-- policy_options(table)    { path, text, name, variables, watch, bounds }, the last a weir_policy_options; else nil,
--                          message, code

local core = require "resty.weir.core"
local ffi = require "ffi"
local fields = require "resty.weir.fields"
local options = require "resty.weir.options"

local NAMES = {
  "path", "text", "name", "memory", "instructions", "deadline", "field_size", "cut_fields", "fields", "watch",
}

local function check_source(given)
  local path, text = given.table.path, given.table.text
  if text ~= nil and type(text) ~= "string" then
    return given:refuse("text", "the text of a policy")
  end
  if (path == nil) == (text == nil) then
    return given:fail(("a policy has either path or text; %s given"):format(path and "both were" or "neither was"))
  end
  if path and given.table.name ~= nil then
    return given:refuse("name", "left out, for path names the policy")
  end
  if text and given.table.watch ~= nil then
    return given:refuse("watch", "left out, for it is for path")
  end
end

-- The variables of the option laid over those of every request.
local function read_variables(given)
  local variables = {}
  for name, variable in pairs(fields.request) do
    variables[name] = variable
  end
  local own = given.table.fields
  if own ~= nil and type(own) ~= "table" then
    return given:refuse("fields", 'a table such as { key = "http_x_api_key" }')
  end
  for name, variable in pairs(own or {}) do
    if type(name) ~= "string" or name == "time" or name:find("\0", 1, true) then
      return given:fail("a name in fields was " .. tostring(name) .. "; it must be text, and not time")
    end
    if variable ~= false and not (type(variable) == "string" and variable:find "^[%w_]+$") then
      local _, message = core.invalid("fields." .. name, variable, "the name of a variable of nginx, or false")
      return given:fail(message)
    end
    variables[name] = variable or nil
  end
  return fields.variables(variables)
end

local function read_bounds(given)
  local bounds = ffi.new "weir_policy_options"
  bounds.memory_bytes = given:size "memory" or 0
  bounds.instructions = given:whole "instructions" or 0
  bounds.deadline_us = given:duration "deadline" or 0
  bounds.field_bytes = given:size "field_size" or 0
  bounds.cut_fields = given:flag "cut_fields" or false
  return bounds
end

return function(table)
  local given = options.read(table, NAMES)
  check_source(given)
  local read = {
    path = given:text "path",
    text = given.table.text,
    name = given:text "name",
    variables = read_variables(given),
    watch = given:duration "watch",
    bounds = read_bounds(given),
  }
  if given.wrong then
    return nil, given.wrong, "WEIR_INVALID"
  end
  return read
end
