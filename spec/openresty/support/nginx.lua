--- nginx: a Debian nginx with ngx_lua of the tests' own, on a free port of loopback, stopped by its own pid.
--
-- nginx.start { workers = 2, main = "env X;", http = "init_by_lua_block { }", server = "location / { }",
--               listen = "http2" }
-- server:get(path[, headers])   status, body, headers (names in lower case)
-- server:reload()               HUP, and waits until the new workers serve and the old ones take no more connections
-- server:workers()              their pids
-- server:log()                  the error log
-- server:kill(pid)              kills a worker, which nginx replaces
-- server:stop()                 and waits until it is gone; fails when a worker was killed by a signal not sent here
-- nginx.until_true(ask, what)   asks until it is so, for ten seconds at most unless said; else fails with what is wrong

local http = require "socket.http"
local ltn12 = require "ltn12"
local socket = require "socket"

local nginx = {}

local function run(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

-- What a process says of itself may go between the open and the read, and that is nothing to read either.
local function read(path)
  local file = io.open(path)
  if not file then
    return ""
  end
  local text = file:read "*a"
  file:close()
  return text or ""
end

function nginx.until_true(ask, what, seconds)
  local deadline = socket.gettime() + (seconds or 10)
  while not ask() do
    assert(socket.gettime() < deadline, what)
    socket.select(nil, nil, 0.005)
  end
end

local function free_port()
  local probe = assert(socket.bind("127.0.0.1", 0))
  local _, port = probe:getsockname()
  probe:close()
  return tonumber(port)
end

local template = [[
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off;
worker_processes %(workers);
pid nginx.pid;
error_log error.log notice;
%(user)
%(main)
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path tmp_b; proxy_temp_path tmp_p; fastcgi_temp_path tmp_f; uwsgi_temp_path tmp_u;
    scgi_temp_path tmp_s;
    lua_package_path "%(lua)";
    lua_package_cpath "%(build)/?.so;;";
    %(http)
    server {
        listen 127.0.0.1:%(port) reuseport %(listen);
        %(server)
    }
}
]]

local Server = {}
Server.__index = Server

function nginx.start(options)
  local folder = run "mktemp -d"
  local root = run "pwd"
  local build = os.getenv "WEIR_BUILD" or "build"
  local is_root = run "id -u" == "0"
  local self = setmetatable({ folder = folder, port = free_port(), killed = {} }, Server)
  local words = {
    workers = options.workers or 2, main = options.main or "", http = options.http or "", server = options.server or "",
    listen = options.listen or "",
    user = is_root and ("user %s;"):format(options.user or "root") or "", root = root, port = self.port,
    build = build:sub(1, 1) == "/" and build or root .. "/" .. build,
  }
  words.lua = table.concat({
    root .. "/bindings/openresty/lib/?.lua", words.build .. "/openresty/?.lua",
    root .. "/lua/?.lua", root .. "/spec/?.lua",
    root .. "/build/lua-nginx-redis/usr/share/lua/5.1/?.lua", "/usr/share/lua/5.1/?.lua", ";",
  }, ";")
  local file = assert(io.open(folder .. "/nginx.conf", "w"))
  file:write((template:gsub("%%%((%w+)%)", words)))
  file:close()
  self.pid = run(("nginx -p %s -c nginx.conf >%s/out 2>&1 & echo $!"):format(folder, folder))
  nginx.until_true(function()
    assert(run("kill -0 " .. self.pid .. " 2>&1") == "", read(folder .. "/out"))
    local connection = socket.connect("127.0.0.1", self.port)
    return connection and connection:close()
  end, "nginx does not answer")
  return self
end

function Server:get(path, headers)
  local body = {}
  local _, status, answer = assert(http.request {
    url = ("http://127.0.0.1:%d%s"):format(self.port, path), headers = headers, sink = ltn12.sink.table(body),
  })
  return status, table.concat(body), answer
end

function Server:workers()
  local pids = {}
  for pid in run("pgrep -P " .. self.pid .. " || true"):gmatch "%d+" do
    pids[#pids + 1] = pid
  end
  return pids
end

-- A worker that ends says so in its title and takes no more connections; one that has ended has no title.
local function has_left(pid)
  local title = read("/proc/" .. pid .. "/cmdline")
  return title == "" or title:find("shutting down", 1, true)
end

function Server:reload()
  local old = table.concat(self:workers(), " ")
  run("kill -HUP " .. self.pid)
  nginx.until_true(function()
    for _, pid in ipairs(self:workers()) do
      if not old:find(pid, 1, true) then
        return true
      end
    end
  end, "the new workers do not start")
  nginx.until_true(function()
    for pid in old:gmatch "%d+" do
      if not has_left(pid) then
        return false
      end
    end
    return true
  end, "the old workers do not end")
end

function Server:kill(pid)
  self.killed[pid] = true
  run("kill -KILL " .. pid)
end

function Server:log()
  return read(self.folder .. "/error.log")
end

function Server:stop()
  run("kill -QUIT " .. self.pid)
  nginx.until_true(function()
    return read("/proc/" .. self.pid .. "/cmdline") == ""
  end, "nginx does not stop", 60) -- connections that linger are waited for
  local log = self:log()
  run("rm -rf " .. self.folder)
  for pid in log:gmatch "worker process (%d+) exited on signal" do
    assert(self.killed[pid], log)
  end
end

return nginx
