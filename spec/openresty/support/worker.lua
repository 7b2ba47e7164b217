--- worker: code of a test that runs in a worker of nginx.
--
-- worker.location              for the server block of nginx.start
-- worker.run(server, code)     runs the code there, and gives what it returns as text that `show` would make. It sees
--                              weir (resty.weir.policy), memory() and yielding(store), which open stores, and at(ms),
--                              milliseconds after midnight on 2026-01-01
-- worker.until_true(ask, what)    asks until it is so, for ten seconds at most
-- worker.shell(command)        what it prints

local socket = require "socket"

local worker = {}

worker.location = [[
  location /run {
    content_by_lua_block {
      local code = "local weir, memory, yielding, at = ... " .. ngx.unescape_uri(ngx.var.http_x_code)
      local function at(ms)
        return 1767225600000000 + ms * 1000
      end
      local weir = require "resty.weir.policy"
      local memory, yielding = require "openresty.support.memory", require "openresty.support.yielding"
      ngx.print(require "openresty.support.show" { assert(loadstring(code, "=test"))(weir, memory, yielding, at) })
    }
  }
]]

local function escaped(text)
  return (text:gsub("[^%w ]", function(char)
    return ("%%%02x"):format(char:byte())
  end))
end

function worker.run(server, code)
  local status, body = server:get("/run", { ["X-Code"] = escaped(code) })
  assert(status == 200, server:log())
  return body
end

function worker.until_true(ask, what)
  local deadline = socket.gettime() + 10
  while not ask() do
    assert(socket.gettime() < deadline, what)
    socket.select(nil, nil, 0.002)
  end
end

function worker.shell(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "*a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

return worker
