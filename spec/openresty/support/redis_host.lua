--- redis_host: nginx that runs what a test asks for, on Redis.
--
-- redis_host.start { workers = 1, http = "", init = "code", server = "" }
-- host:run(code)      what the code returned inside nginx (redis_inside.lua says what it reaches)
-- host:send(code)     the same under way: a request whose `socket` can be read when its answer has come
-- request:values()    the answer, within a minute

local json = require "dkjson"
local nginx = require "spec.openresty.support.nginx"
local socket = require "socket"

local redis_host = {}
local Host = {}
Host.__index = Host
local Request = {}
Request.__index = Request

local http = [[
    lua_socket_log_errors off;
    %s
    init_by_lua_block { inside = require "spec.openresty.support.redis_inside" %s }
]]

local server = [[
        location = /run { content_by_lua_block { inside.run() } }
        ]]

function redis_host.start(options)
  return setmetatable({
    nginx = nginx.start {
      workers = options.workers or 1,
      http = http:format(options.http or "", options.init or ""),
      server = server .. (options.server or ""),
    },
  }, Host)
end

function Host:send(code)
  local connection = assert(socket.connect("127.0.0.1", self.nginx.port))
  assert(connection:send(("GET /run HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nLua: %s\r\n\r\n")
    :format(code:gsub("%s*\n%s*", " "))))
  return setmetatable({ socket = connection, host = self }, Request)
end

function Request:values()
  self.socket:settimeout(60)
  local text, message, part = self.socket:receive "*a"
  self.socket:close()
  text = text or part
  local status, body = text:match "^HTTP/1%.1 (%d+).-\r\n\r\n(.*)$"
  assert(status == "200", message or text .. self.host.nginx:log())
  body = body:gsub("^%x+\r\n", ""):gsub("\r\n0\r\n\r\n$", "")
  local answer = assert(json.decode(body), text)
  return table.unpack(answer.values, 1, answer.count)
end

function Host:run(code)
  return self:send(code):values()
end

function Host:stop()
  self.nginx:stop()
end

return redis_host
