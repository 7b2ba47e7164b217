--- request: what a limiter asks nginx of the request that runs now.
--
-- request.view         its fields by the names that they have in logs (fields.lua), read from nginx when asked for
-- request.id()         what names it. Each call gives another, so keep it
-- request.network()    the client's address, that of IPv6 cut to its network of 64 bits
-- request.reader(text) a function that gives the text, such as "$http_x_team:$uri", with its variables filled in; nil
--                      when one has no value

local address = require "weir.address"
local fields = require "resty.weir.fields"
local ngx = ngx
local var = ngx.var

local concat, find, gmatch, sub = table.concat, string.find, string.gmatch, string.sub

local request = {}

request.view = setmetatable({}, {
  __index = function(_, name)
    local variable = fields.request[name]
    return variable and var[variable]
  end,
})

function request.id()
  return var.request_id
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
