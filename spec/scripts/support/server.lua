--- server: a Redis or Valkey of the tests' own, on a private unix socket, stopped by its own pid.

local resp = require "spec.scripts.support.resp"
local socket = require "socket"

local server = {}

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

-- The servers that there are: redis-server of the system, valkey-server unpacked in the build folder.
function server.kinds()
  local build = os.getenv "WEIR_BUILD" or "build"
  return {
    { name = "redis", binary = "redis-server", options = "" },
    { name = "valkey", binary = run(". spec/support/valkey.sh && valkey_unpack " .. build .. "/valkey"), options = "" },
    { name = "redis in cluster mode", binary = "redis-server", options = "--cluster-enabled yes", cluster = true },
  }
end

-- A port of this machine that nothing listens on at the moment.
function server.free_port()
  local probe = assert(socket.bind("127.0.0.1", 0))
  local _, port = probe:getsockname()
  probe:close()
  return port
end

local Server = {}
Server.__index = Server

function server.start(kind)
  local folder = run "mktemp -d"
  local self = setmetatable({ folder = folder, path = folder .. "/socket", kind = kind }, Server)
  local options = kind.options
  if kind.cluster then
    -- The bus of a cluster is a port, of which each run needs its own.
    options = options .. " --bind 127.0.0.1 --cluster-port " .. server.free_port()
  end
  assert(run(("%s --port 0 --unixsocket %s --dir %s --save '' --appendonly no --daemonize yes "
    .. "--logfile %s/log %s && echo started"):format(kind.binary, self.path, folder, folder, options)):find "started")
  -- It listens a moment after it has started: ask until it answers, for ten seconds at most.
  local deadline, connection = socket.gettime() + 10, nil
  while not connection do
    connection = resp.connect(self.path)
    assert(connection or socket.gettime() < deadline, "the server does not answer")
  end
  self.connection = connection
  self.pid = connection:call("INFO", "server"):match "process_id:(%d+)"
  if kind.cluster then
    connection:call("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    repeat
      assert(socket.gettime() < deadline, "the cluster does not form")
    until connection:call("CLUSTER", "INFO"):find("cluster_state:ok", 1, true)
  end
  return self
end

function Server:connect()
  return assert(resp.connect(self.path))
end

function Server:stop()
  self.connection:close()
  run("kill " .. self.pid .. " && rm -rf " .. self.folder)
end

return server
