--- resp: a connection to a server over its unix socket, one command after the other.

local unix = require "socket.unix"

local Connection = {}
Connection.__index = Connection

local resp = {}

function resp.connect(path)
  local stream = type(unix) == "table" and unix.stream or unix
  local socket = assert(stream())
  local fine, message = socket:connect(path)
  if not fine then
    socket:close()
    return nil, message
  end
  socket:settimeout(30)
  return setmetatable({ socket = socket }, Connection)
end

local function encode(words)
  local parts = { "*" .. #words .. "\r\n" }
  for _, value in ipairs(words) do
    parts[#parts + 1] = "$" .. #value .. "\r\n" .. value .. "\r\n"
  end
  return table.concat(parts)
end

-- A reply: a string, a number, a list, false for nil, { err = text } for an error.
function Connection:read()
  local line = assert(self.socket:receive "*l")
  local kind, rest = line:sub(1, 1), line:sub(2)
  if kind == "+" then
    return rest
  elseif kind == "-" then
    return { err = rest }
  elseif kind == ":" then
    return tonumber(rest)
  elseif kind == "$" then
    if rest == "-1" then
      return false
    end
    local body = assert(self.socket:receive(tonumber(rest) + 2))
    return body:sub(1, -3)
  end
  assert(kind == "*", line)
  local list = {}
  for index = 1, tonumber(rest) do
    list[index] = self:read()
  end
  return list
end

function Connection:send(...)
  assert(self.socket:send(encode { ... }))
end

function Connection:call(...)
  self:send(...)
  return self:read()
end

-- Several commands in one go, each a list of words; the replies in their order.
function Connection:pipeline(commands)
  local parts = {}
  for index, words in ipairs(commands) do
    parts[index] = encode(words)
  end
  assert(self.socket:send(table.concat(parts)))
  local replies = {}
  for index = 1, #commands do
    replies[index] = self:read()
  end
  return replies
end

function Connection:close()
  self.socket:close()
end

return resp
