--- fields: what a policy may read of a request or a response, from a table or from nginx.
--
-- fields.room()                    a list, filled again by each call below: c, the weir_field[], and its count
-- fields.of_table(list, table, what)    all fields of the table but `time`; true, or nil, message, code
-- fields.of_nginx(list, variables, what)    the same from the variables of the request that runs
-- fields.variables(given)          { { field, variable }, ... } of the table { field = variable, ... }
-- fields.table(variables, what)    a table of fields from the variables
-- fields.request, fields.response  the variables of nginx by the names that fields have in logs
--
-- The list points into Lua's texts and keeps them until it is filled again; whoever fills it uses it before it yields.

local core = require "resty.weir.core"
local ffi = require "ffi"
local ngx = ngx

local fields = {}

-- As the tool has them from a combined log, so that one policy reads both. `user` is what the client says unless
-- nginx has checked the password.
fields.request = {
  address = "remote_addr",
  user = "remote_user",
  method = "request_method",
  path = "request_uri",
  protocol = "server_protocol",
  referrer = "http_referer",
  agent = "http_user_agent",
}
fields.response = { status = "status", size = "body_bytes_sent" }

local ROOM = 16

function fields.room()
  return { c = ffi.new("weir_field[?]", ROOM), room = ROOM, count = 0, texts = {} }
end

-- The next field of the list, after the count of those that are there.
local function next_field(list, name)
  local at = list.count
  if at == list.room then
    list.room = list.room * 2
    local grown = ffi.new("weir_field[?]", list.room)
    ffi.copy(grown, list.c, at * ffi.sizeof "weir_field")
    list.c = grown
  end
  list.count = at + 1
  local field = list.c[at]
  field.name, field.is_number = name, false
  return field
end

local function wrong_value(what, name, value)
  return core.invalid(what .. "." .. name, value, "text or a number, or be left out")
end

function fields.of_table(list, given, what)
  list.count, list.given = 0, given
  if type(given) ~= "table" then
    return core.invalid(what, given, "a table of fields")
  end
  for name, value in next, given do
    if type(name) ~= "string" or name:find("\0", 1, true) then
      return core.invalid("a name in " .. what, name, "text without a NUL")
    end
    if name ~= "time" then
      local field = next_field(list, name)
      if type(value) == "string" then
        field.text, field.text_size = value, #value
      elseif type(value) == "number" then
        field.number, field.is_number = value, true
      else
        return wrong_value(what, name, value)
      end
    end
  end
  return true
end

function fields.variables(given)
  local list = {}
  for name, variable in pairs(given) do
    list[#list + 1] = { name, variable }
  end
  return list
end

-- Empty is nil, as in a log.
local function read_variables(list, variables)
  local var, texts = ngx.var, list.texts
  list.count, list.given = 0, nil
  for i = 1, #variables do
    local one = variables[i]
    local value = var[one[2]]
    if value and value ~= "" then
      texts[i] = value
      local field = next_field(list, one[1])
      field.text, field.text_size = value, #value
    end
  end
end

local function no_request(what)
  return nil, ("%s was nil; it must be a table of fields where nginx has no request"):format(what), "WEIR_INVALID"
end

function fields.of_nginx(list, variables, what)
  if pcall(read_variables, list, variables) then
    return true
  end
  return no_request(what)
end

local function copy_variables(variables)
  local out = {}
  for _, one in ipairs(variables) do
    local value = ngx.var[one[2]]
    out[one[1]] = value ~= "" and value or nil
  end
  return out
end

function fields.table(variables, what)
  local ok, out = pcall(copy_variables, variables)
  if ok then
    return out
  end
  return no_request(what)
end

return fields
