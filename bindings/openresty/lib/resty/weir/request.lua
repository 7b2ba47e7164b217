--- request: what nginx knows of a request, under the names that the tool gives the fields of a log.
--
-- request.view         the request that runs now: address, user, method, path, protocol, referrer and agent, as a
--                      combined log has them; each is read from nginx when it is asked for
-- request.fields()     the same as a table that may be changed, and id, which no other request has
-- request.response()   status and size as in a log, and request_time in seconds. All is text
-- request.id()         what names the request that runs now. Each call gives another, so keep it
-- request.network()    the client's address, that of IPv6 cut to its network of 64 bits
-- request.reader(text) a function that gives the text with its variables filled in, such as "$http_x_team:$uri"; it gives
--                      nil when one has no value

local address = require "weir.address"
local ngx = ngx
local var = ngx.var

local concat, find, gmatch, sub = table.concat, string.find, string.gmatch, string.sub

local variables = {
  address = "remote_addr",
  user = "remote_user",
  method = "request_method",
  path = "request_uri",
  protocol = "server_protocol",
  referrer = "http_referer",
  agent = "http_user_agent",
}

local request = {}

request.view = setmetatable({}, {
  __index = function(_, name)
    local variable = variables[name]
    return variable and var[variable]
  end,
})

function request.id()
  return var.request_id
end

function request.fields()
  local fields = { id = request.id() }
  for name, variable in pairs(variables) do
    fields[name] = var[variable]
  end
  return fields
end

function request.response()
  return {
    status = var.status,
    size = var.body_bytes_sent,
    request_time = var.request_time,
  }
end

-- The text that nginx writes of an IPv4 address is the only one of it. A socket of the host has no address.
function request.network()
  local text = var.remote_addr
  if find(text, ":", 1, true) and text ~= "unix:" then
    return address(text, 64)
  end
  return text
end

function request.reader(text)
  local parts, at = {}, 1
  for from, name, past in gmatch(text, "()%$([%a_][%w_]*)()") do
    parts[#parts + 1] = { text = sub(text, at, from - 1), name = name }
    at = past
  end
  local tail = sub(text, at)
  return function()
    local texts = {}
    for i = 1, #parts do
      local value = var[parts[i].name]
      if value == nil or value == "" then
        return nil
      end
      texts[i] = parts[i].text .. value
    end
    return concat(texts) .. tail
  end
end

return request
