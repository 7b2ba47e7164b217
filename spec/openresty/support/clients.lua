--- clients: requests that are in flight together, on connections of their own or on one.
--
-- clients.send(server, path[, headers])   a request that was sent and whose answer is not awaited
-- request:answer()                        its status and body, within ten seconds; nil when the server went away
-- request:leave()                         closes the connection
-- clients.in_turn(server, paths[, headers])    the statuses of requests that are sent on one connection, and served one
--                                         after the other
-- clients.at_once(server, paths[, headers])    the bodies of requests that are sent on one connection, by HTTP/2

local socket = require "socket"

local clients = {}
local Request = {}
Request.__index = Request

local function lines_of(headers)
  local lines = {}
  for name, value in pairs(headers or {}) do
    lines[#lines + 1] = name .. ": " .. value
  end
  return lines
end

local function send(connection, path, headers, closes)
  local lines = lines_of(headers)
  table.insert(lines, 1, ("GET %s HTTP/1.1\r\nHost: localhost"):format(path))
  lines[#lines + 1] = closes and "Connection: close" or nil
  assert(connection:send(table.concat(lines, "\r\n") .. "\r\n\r\n"))
end

local function receive(connection)
  connection:settimeout(10)
  local text, message, part = connection:receive "*a"
  connection:close()
  assert(message ~= "timeout", "no answer within ten seconds")
  return text or part
end

function clients.send(server, path, headers)
  local connection = assert(socket.connect("127.0.0.1", server.port))
  send(connection, path, headers, true)
  return setmetatable({ connection = connection }, Request)
end

function clients.in_turn(server, paths, headers)
  local connection = assert(socket.connect("127.0.0.1", server.port))
  for i, path in ipairs(paths) do
    send(connection, path, headers, i == #paths)
  end
  local statuses = {}
  for status in receive(connection):gmatch "HTTP/1%.1 (%d+)" do
    statuses[#statuses + 1] = tonumber(status)
  end
  return statuses
end

function clients.at_once(server, paths, headers)
  local words = { "nghttp --timeout=10" }
  for _, line in ipairs(lines_of(headers)) do
    words[#words + 1] = ("--header='%s'"):format(line)
  end
  for _, path in ipairs(paths) do
    words[#words + 1] = ("'http://127.0.0.1:%d%s'"):format(server.port, path)
  end
  local pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1"))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

function Request:answer()
  local text = receive(self.connection)
  local status = tonumber(text:match "^HTTP/1%.1 (%d+)")
  return status, text:match "\r\n\r\n(.*)$"
end

function Request:leave()
  self.connection:close()
end

return clients
