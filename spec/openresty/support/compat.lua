--- compat: the test host of resty.weir.req, count, conn and traffic, and what its tests share.
--
-- A test's Lua runs in the server: `run` sends it, and the answer is what it returned, numbers to 14 digits. Requests
-- that last are held open by a body of which one byte is missing.

local socket = require "socket"

-- Mappings outlive nginx, so dicts have names that only this run has, and are swept away afterwards.
local DICT = ("spec%d"):format(socket.gettime() * 1e6)
local OTHER = DICT .. "_other"

local HTTP = ([[
lua_shared_dict %s 1m;
lua_shared_dict %s 1m;
lua_shared_dict seen 1m;
# Else a client may see the end of an answer before the log phase has run.
lingering_close off;
init_by_lua_block {
  req, count = require "resty.weir.req", require "resty.weir.count"
  conn, traffic = require "resty.weir.conn", require "resty.weir.traffic"
  DICT, OTHER = "%s", "%s"
  function state(_, second) return second end
}
]]):format(DICT, OTHER, DICT, OTHER)

local SERVER = [[
location = /run {
  content_by_lua_block {
    local words = { assert(loadstring(ngx.unescape_uri(ngx.var.args)))() }
    for i = 1, table.maxn(words) do
      local word = words[i]
      words[i] = type(word) == "number" and ("%.14g"):format(word) or tostring(word)
    end
    ngx.print(table.concat(words, " "))
  }
}
location = /pid { content_by_lua_block { ngx.print(ngx.worker.pid()) } }

location = /take {
  access_by_lua_block {
    limiter = limiter or assert(loadstring("return " .. ngx.unescape_uri(ngx.var.arg_limiter)))()
    local delay, why = limiter:incoming("one", true)
    local seen = delay and "allowed" or why
    ngx.shared.seen:incr(seen, 1, 0)
    return ngx.exit(delay and 204 or 429)
  }
}

location = /hold {
  access_by_lua_block {
    local lims = { conn.new(DICT, 2, 0, 1), conn.new(DICT, 10, 0, 1) }
    local keys = { ngx.var.arg_ip, "host" }
    local delay, why = traffic.combine(lims, keys)
    if not delay then
      return ngx.exit(why == "rejected" and 429 or 500)
    end
    ngx.ctx.leave = function()
      lims[1]:leaving(keys[1])
      lims[2]:leaving(keys[2])
    end
  }
  content_by_lua_block {
    ngx.print(ngx.worker.pid())
    ngx.flush(true)
    ngx.req.read_body()
  }
  log_by_lua_block {
    if ngx.ctx.leave then
      ngx.ctx.leave()
    end
  }
}

location = /place {
  access_by_lua_block {
    local lim = conn.new(DICT, 10, 0, 1, 0.5)
    local delay, why = lim:incoming("place", true)
    if not delay then
      return ngx.exit(why == "rejected" and 429 or 500)
    end
  }
  content_by_lua_block {
    ngx.print(ngx.worker.pid())
    ngx.flush(true)
    ngx.req.read_body()
  }
  log_by_lua_block { conn.new(DICT, 10, 0, 1, 0.5):leaving("place") }
}

location = /redirected {
  access_by_lua_block {
    lim = conn.new(DICT, 1, 0, 1)
    lim:incoming("redirected", true)
    ngx.ctx.lim = lim
    return ngx.exec("/after")
  }
}
location = /after {
  content_by_lua_block { ngx.print(tostring(ngx.ctx.lim), " ", (lim:leaving "redirected")) }
}
]]

local function escape(text)
  return (text:gsub("[^%w]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end))
end

local function run(server, code)
  local status, body = server:get("/run?" .. escape(code))
  assert(status == 200, server:log())
  return body
end

-- A request that the server has begun to answer and that ends when the test says so.
local function hold(server, path)
  local connection = assert(socket.connect("127.0.0.1", server.port))
  connection:settimeout(10)
  local head = "POST %s HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"
  assert(connection:send(head:format(path)))
  local status = assert(connection:receive "*l"):match "^HTTP/1.1 (%d+)"
  if status ~= "200" then
    connection:close()
    return { status = tonumber(status) }
  end
  repeat
    local line = assert(connection:receive "*l")
  until line == ""
  assert(connection:receive "*l")
  return {
    status = 200,
    pid = connection:receive "*l",
    finish = function()
      connection:send "x"
      local rest, _, part = connection:receive "*a"
      connection:close()
      return rest or part
    end,
    leave = function()
      connection:close()
    end,
  }
end

-- Sends what it can for so many seconds, while `meanwhile` runs.
local function wrk(server, path, seconds, meanwhile)
  local command = ("wrk -t1 -c16 -d%ds 'http://127.0.0.1:%d%s'"):format(seconds, server.port, path)
  local pipe = assert(io.popen(command))
  if meanwhile then
    meanwhile()
  end
  pipe:read "a"
  assert(pipe:close())
end

local function sweep()
  os.execute(("rm -f /dev/shm/weir-%s*"):format(DICT))
end

return {
  DICT = DICT, OTHER = OTHER, HTTP = HTTP, SERVER = SERVER,
  escape = escape, run = run, hold = hold, wrk = wrk, sweep = sweep,
}
