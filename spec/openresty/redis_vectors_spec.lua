--- The vectors on Redis from inside nginx: every row as the C core and the scripts answer it.

local redis = require "spec.openresty.support.redis"
local redis_host = require "spec.openresty.support.redis_host"

describe("the vectors, on Redis from OpenResty,", function()
  local server, host

  setup(function()
    server = redis.start()
    host = redis_host.start { workers = 2 }
  end)

  teardown(function()
    host:stop()
    server:close()
  end)

  local function run(name, url)
    return host:run(([[
      local store = open { url = %q, timeout = "10s" }
      return require "spec.openresty.support.redis_vectors"(store, %q)
    ]]):format(url, name))
  end

  it("are right for one limit and key, by a Unix socket", function()
    assert.same({ 500, 30000, "" }, { run("one", server.url) })
  end)

  it("are right for leases, by TCP", function()
    assert.same({ 120, 7200, "" }, { run("leases", "redis://127.0.0.1:" .. server.port) })
  end)

  it("are right for several limits at once", function()
    assert.same({ 250, 37560, "" }, { run("all", server.url) })
  end)
end)
