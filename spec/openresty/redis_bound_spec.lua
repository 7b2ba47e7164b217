--- The bound under load on a Redis server: four workers, one key, and exactly as many pass as the limit says.

local host = require "spec.openresty.support.host"
local json = require "dkjson"
local load = require "spec.openresty.support.load"
local nginx = require "spec.openresty.support.nginx"
local redis = require "spec.openresty.support.redis"

local limiters = [[
      package.preload["resty.redis"] = function() return require "nginx.redis" end
      host.store = assert(weir.redis { url = "%s", timeout = "10s" })
      local limits = {
        sliding_log = weir.sliding_log { name = "log", limit = 3000, window = "300d" },
        fixed_window = weir.fixed_window { name = "window", limit = 3000, window = "400d" },
        sliding_counter = weir.sliding_counter { name = "counter", limit = 3000, window = "300d", slots = 60 },
        token_bucket = weir.token_bucket { name = "bucket", rate = "1/h", burst = 3000 },
        wide = weir.fixed_window { name = "wide", limit = 5000, window = "400d" },
        narrow = weir.fixed_window { name = "narrow", limit = 3000, window = "400d" },
        second = weir.fixed_window { name = "second", limit = 200, window = "1s" },
      }
      local function with(...)
        return weir.access { store = host.store, limits = { ... }, key = "all", on_refused = function()
          ngx.shared.flags:incr("refused", 1, 0)
        end }
      end
      local limiters = { both = with(limits.wide, limits.narrow) }
      for name, limit in pairs(limits) do
        limiters[name] = with(limit)
      end
      return limiters, limits
]]

describe("four workers under load, on a Redis server,", function()
  local redis_server, server

  setup(function()
    redis_server = redis.start()
    server = host.start { workers = 4, limiters = limiters:format(redis_server.url), server = [[
      location = /refused { content_by_lua_block { ngx.print(ngx.shared.flags:get "refused" or 0) } }
    ]] }
  end)

  teardown(function()
    server:stop()
    redis_server:close()
  end)

  local function refused()
    local _, count = server:get "/refused"
    return tonumber(count)
  end

  local function left(name)
    local _, body = server:get("/store", { Verb = "peek", Limit = name, Key = "all" })
    return json.decode(body)[1].remaining
  end

  -- Ends the load. Gives how many passed: all others were refused, and nothing failed.
  local function stop(clients)
    local _, passed, lost = clients:stop()
    assert.equal(0, lost)
    assert.is_nil(server:log():match "%[error%][^\n]*")
    return passed
  end

  local function refused_more(count)
    local before = refused()
    nginx.until_true(function()
      return refused() >= before + count
    end, "the clients are not refused")
  end

  -- Until every client has been refused since the last pass.
  local function passed_of(limiter, limit)
    local clients = load.start(server, "/" .. limiter)
    nginx.until_true(function()
      return left(limit) == 0
    end, "the limit is not reached")
    refused_more(1000)
    return stop(clients)
  end

  for _, name in ipairs { "sliding_log", "fixed_window", "sliding_counter", "token_bucket" } do
    it("let exactly as many pass as the limit says: " .. name, function()
      assert.equal(3000, passed_of(name, name))
    end)
  end

  it("let exactly as many pass as the narrower of two limits, and count no refusal on the other", function()
    assert.equal(3000, passed_of("both", "narrow"))
    assert.equal(2000, left "wide")
  end)

  it("C179 let as many pass in each window, and none fails between two of them", function()
    local function second()
      return tonumber(redis_server:call("TIME")[1])
    end
    local first = second()
    local clients = load.start(server, "/second")
    refused_more(1)
    local loaded = second()
    nginx.until_true(function()
      return second() >= loaded + 4
    end, "the windows do not end")
    local passed = stop(clients)
    local last = second()
    local least, most = (last - loaded - 1) * 200 - load.CONNECTIONS, (last - first + 1) * 200
    assert.truthy(least <= passed and passed <= most, ("%d passed; it must be %d to %d"):format(passed, least, most))
  end)
end)
