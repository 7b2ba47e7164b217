--- The vectors through HTTP, on a Redis server that two workers ask: every row as the C core and the scripts answer it.

local nginx = require "spec.openresty.support.nginx"
local redis = require "spec.openresty.support.redis"

local PARTS = 3

describe("on a Redis server, under two workers of nginx, the vectors", function()
  local server, host

  setup(function()
    server = redis.start()
    host = nginx.start { workers = 2, http = ([[
      init_by_lua_block {
        package.preload["resty.redis"] = function() return require "nginx.redis" end
        local redis = require "resty.weir.redis"
        vectors = require "spec.openresty.support.vectors_inside"
        stores = {
          unix = assert(redis.open { url = "%s", timeout = "10s" }),
          tcp = assert(redis.open { port = %d, timeout = "10s" }),
        }
      }
    ]]):format(server.url, server.port), server = [[
      location = /vectors { content_by_lua_block { vectors.run(stores[ngx.var.arg_by]) } }
    ]] }
  end)

  teardown(function()
    host:stop()
    server:close()
  end)

  -- Each sequence in parts, one request a part. Gives the sequences, the rows and how many workers there were.
  local function run(name, by)
    local sequences, rows, workers, count = 0, 0, {}, 0
    for _ in io.lines("spec/vectors/" .. name .. ".jsonl") do
      sequences = sequences + 1
      for part = 0, PARTS - 1 do
        local path = ("/vectors?by=%s&file=%s&line=%d&from=%d&past=%d"):format(by, name, sequences, part * 30 + 1,
          part == PARTS - 1 and 1000 or part * 30 + 31)
        local status, body = host:get(path)
        assert.equal(200, status)
        local pid, right, wrong = body:match "^(%d+) (%d+) (.*)$"
        assert.equal("", wrong, ("%s.jsonl:%d"):format(name, sequences))
        rows = rows + tonumber(right)
        count = count + (workers[pid] and 0 or 1)
        workers[pid] = true
      end
    end
    return { sequences, rows, count }
  end

  it("are right for one limit and key, by a Unix socket", function()
    assert.same({ 500, 30000, 2 }, run("one", "unix"))
  end)

  it("are right for leases, by TCP", function()
    assert.same({ 120, 7200, 2 }, run("leases", "tcp"))
  end)

  it("are right for several limits at once", function()
    assert.same({ 250, 37560, 2 }, run("all", "unix"))
  end)
end)
