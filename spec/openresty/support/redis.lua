--- redis: a Redis of the tests' own, on a private Unix socket and a free port of loopback, stopped by its own pid.
--
-- redis.start([options])       options as on redis-server's command line
-- server:call(...)             one command; the reply as resp.lua has it
-- server.path, server.port     where it listens
-- server.url                   of the Unix socket
-- server:pause(), server:resume()    it takes connections and answers nothing; it goes on
-- server:stop()                kills it, and waits until nobody listens there
-- server:start()               again, at the same addresses, empty unless the options have it keep a log
-- server:close()               stops it if it runs, and removes its folder

local nginx = require "spec.openresty.support.nginx"
local resp = require "spec.scripts.support.resp"
local socket = require "socket"

local redis = {}

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

local Server = {}
Server.__index = Server

function Server:start()
  self.pid = run(("redis-server --port %d --bind 127.0.0.1 --unixsocket %s --dir %s --save '' --appendonly no "
    .. "--daemonize no %s >%s/log 2>&1 & echo $!"):format(self.port, self.path, self.folder, self.options, self.folder))
  nginx.until_true(function()
    self.connection = resp.connect(self.path)
    return self.connection
  end, "redis-server does not start")
  if self.password then
    self:call("AUTH", self.password)
  end
end

function redis.start(options, password)
  local folder = run "mktemp -d"
  local probe = assert(socket.bind("127.0.0.1", 0))
  local _, port = probe:getsockname()
  probe:close()
  local self = setmetatable({
    folder = folder, path = folder .. "/socket", port = tonumber(port), options = options or "", password = password,
    url = "redis+unix://" .. folder .. "/socket",
  }, Server)
  self:start()
  return self
end

function Server:call(...)
  return self.connection:call(...)
end

-- How many connections of weir there are.
function Server:connections()
  local _, count = self:call("CLIENT", "LIST"):gsub(" name=weir ", "")
  return count
end

function Server:pause()
  run("kill -STOP " .. self.pid)
end

function Server:resume()
  run("kill -CONT " .. self.pid)
end

function Server:stop()
  self.connection:close()
  run("kill -KILL " .. self.pid)
  nginx.until_true(function()
    local connection = socket.connect("127.0.0.1", self.port)
    if connection then
      connection:close()
    end
    return not connection
  end, "redis-server does not stop")
  run("rm -f " .. self.path)
  self.pid = nil
end

function Server:close()
  if self.pid then
    self:stop()
  end
  run("rm -rf " .. self.folder)
end

return redis
