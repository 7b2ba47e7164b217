--- The file of a policy changes while workers of nginx use it.

local nginx = require "openresty.support.nginx"
local worker = require "openresty.support.worker"

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

describe("the file of a policy in nginx", function()
  local server, path

  local function text(version, tail)
    return ('return function() return require "weir".deny "%s" end %s'):format(version, tail or "")
  end

  before_each(function()
    path = os.tmpname()
    write(path, text "v0")
    worker.shell("chmod 644 " .. path)
    server = nginx.start { http = ([[
      init_by_lua_block {
        local weir = require "resty.weir.policy"
        package.loaded.host = {
          policy = assert(weir.open { path = "%s", watch = "1ms" }),
          by_hand = assert(weir.open { path = "%s" }),
          store = require "openresty.support.memory" (),
        }
      }
    ]]):format(path, path), server = [[
      location /watched {
        content_by_lua_block {
          local host = require "host"
          local outcome, message, code = host.policy:decide(host.store)
          if not outcome then
            ngx.status = 500
            return ngx.say(code, " ", message)
          end
          ngx.say(outcome.reason, " ", ngx.worker.pid())
        }
      }
      location /reload {
        content_by_lua_block {
          local host = require "host"
          local done, message, code = host.by_hand:reload()
          ngx.say(tostring(done), " ", code or "", " ", message or "", " ", host.by_hand:decide(host.store).reason)
        }
      }
    ]] }
  end)

  after_each(function()
    server:stop()
    os.remove(path)
  end)

  local function until_all_say(version)
    local seen, count = {}, 0
    worker.until_true(function()
      local status, body = server:get "/watched"
      assert.equal(200, status)
      local said, pid = body:match "^(%S+) (%d+)"
      if said == version and not seen[pid] then
        seen[pid], count = true, count + 1
      end
      return count == 2
    end, version .. " does not reach both workers")
  end

  it("is followed by every worker that watches it", function()
    until_all_say "v0"
    write(path, text "v1")
    until_all_say "v1"
    write(path, text "v2")
    until_all_say "v2"
  end)

  it("that breaks leaves the last good policy, is logged once, and is followed again when mended", function()
    write(path, text("v1", "end"))
    worker.until_true(function()
      local status = server:get "/watched"
      assert.equal(200, status)
      return select(2, server:log():gsub("the last good policy stays", "")) == 2
    end, "it is not logged by both workers")
    until_all_say "v0"
    os.remove(path)
    worker.until_true(function()
      server:get "/watched"
      return select(2, server:log():gsub("the last good policy stays: [^\n]+No such file", "")) == 2
    end, "it is not logged by both workers")
    until_all_say "v0"
    write(path, text "v3")
    until_all_say "v3"
    assert.equal(4, select(2, server:log():gsub("the last good policy stays", "")))
    assert.matches(path .. ":1: ", server:log(), 1, true)
  end)

  it("is read again when told, and keeps the last good policy with a sentence and a code", function()
    local _, said = server:get "/reload"
    assert.equal("true   v0\n", said)
    write(path, text "v1")
    _, said = server:get "/reload"
    assert.equal("true   v1\n", said)
    write(path, text("v2", "end"))
    _, said = server:get "/reload"
    assert.matches("^nil WEIR_POLICY [^\n]+:1: [^\n]+ v[01]\n", said)
    assert.matches("the last good policy stays: ", server:log(), 1, true)
    os.remove(path)
    _, said = server:get "/reload"
    assert.matches("^nil WEIR_IO [^\n]+No such file or directory v[01]\n", said)
  end)

  it("may change twenty times under load without an error", function()
    local out = os.tmpname()
    local command = "wrk -t1 -c16 -d60s http://127.0.0.1:%d/watched >%s 2>&1 & echo $!"
    local pid = worker.shell(command:format(server.port, out))
    for i = 1, 20 do
      write(path .. ".new", text("v" .. i))
      assert(os.rename(path .. ".new", path))
      until_all_say("v" .. i)
    end
    worker.shell("kill -INT " .. pid)
    worker.until_true(function()
      return worker.shell("kill -0 " .. pid .. " 2>/dev/null && echo there") == ""
    end, "wrk does not stop")
    local said = read(out)
    os.remove(out)
    assert.matches("%d+ requests in", said)
    assert.not_matches("Non%-2xx", said)
    assert.not_matches("Socket errors", said)
    assert.not_matches("%[error%]", server:log())
  end)
end)
