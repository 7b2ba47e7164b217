--- clients: requests that are in flight together, each on a connection of its own.
--
-- clients.send(server, path[, headers])   a request that was sent and whose answer is not awaited
-- request:answer()                        its status and body, within ten seconds; nil when the server went away
-- request:leave()                         closes the connection

local socket = require "socket"

local clients = {}
local Request = {}
Request.__index = Request

function clients.send(server, path, headers)
  local connection = assert(socket.connect("127.0.0.1", server.port))
  local lines = { ("GET %s HTTP/1.1"):format(path), "Host: localhost", "Connection: close" }
  for name, value in pairs(headers or {}) do
    lines[#lines + 1] = name .. ": " .. value
  end
  assert(connection:send(table.concat(lines, "\r\n") .. "\r\n\r\n"))
  return setmetatable({ connection = connection }, Request)
end

function Request:answer()
  self.connection:settimeout(10)
  local text, message, part = self.connection:receive "*a"
  self.connection:close()
  assert(message ~= "timeout", "no answer within ten seconds")
  text = text or part
  local status = tonumber(text:match "^HTTP/1%.1 (%d+)")
  return status, text:match "\r\n\r\n(.*)$"
end

function Request:leave()
  self.connection:close()
end

return clients
