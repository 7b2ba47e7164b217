--- The bound under load: four workers, one key, and never one more than the limit, whoever is killed meanwhile.

local host = require "spec.openresty.support.host"
local json = require "dkjson"
local load = require "spec.openresty.support.load"
local nginx = require "spec.openresty.support.nginx"

local WORKERS = 4

local places = [[
      location = /counters { content_by_lua_block { ngx.say(host.json.encode(host.store:counters())) } }
      location = /check { content_by_lua_block { ngx.say(host.json.encode { host.store:check() }) } }
      location = /clock { content_by_lua_block { ngx.say(("%.0f"):format(host.store:now_us())) } }
      location = /worker { content_by_lua_block { ngx.print(ngx.worker.pid()) } }
]]

describe("four workers under load", function()
  local server

  after_each(function()
    server:stop()
  end)

  local function ask(path, headers)
    local status, body = server:get(path, headers)
    assert.equal(200, status)
    return json.decode(body)
  end

  local function left(name)
    return ask("/store", { Verb = "peek", Limit = name, Key = "all" })[1].remaining
  end

  -- Until that many more have been refused, so that every client has had an answer since the last pass.
  local function refused_more(count)
    local before = ask("/counters").refused
    nginx.until_true(function()
      return ask("/counters").refused >= before + count
    end, "the clients are not refused")
  end

  it("let exactly as many pass as the limit says", function()
    server = host.start { workers = WORKERS, server = places, limiters = [[
      local limits = {
        sliding_log = weir.sliding_log { name = "log", limit = 3000, window = "300d" },
        fixed_window = weir.fixed_window { name = "window", limit = 3000, window = "400d" },
        sliding_counter = weir.sliding_counter { name = "counter", limit = 3000, window = "300d", slots = 60 },
        token_bucket = weir.token_bucket { name = "bucket", rate = "1/h", burst = 3000 },
      }
      local limiters = {}
      for name, limit in pairs(limits) do
        limiters[name] = weir.access { store = store, limits = { limit }, key = "all" }
      end
      return limiters, limits
    ]] }
    for _, name in ipairs { "sliding_log", "fixed_window", "sliding_counter", "token_bucket" } do
      local clients = load.start(server, "/" .. name)
      nginx.until_true(function()
        return left(name) == 0
      end, "the limit is not reached")
      refused_more(1000)
      local _, passed = clients:stop()
      assert.equal(3000, passed, name)
    end
  end)

  it("let no more pass than burst + rate x time, by the store's clock", function()
    server = host.start { workers = WORKERS, server = places, limiters = [[
      local bucket = weir.token_bucket { name = "bucket", rate = "1000/s", burst = 200 }
      return { bucket = weir.access { store = store, limits = { bucket }, key = "all" } }
    ]] }
    local from = ask "/clock"
    local clients = load.start(server, "/bucket")
    refused_more(5000)
    local _, passed = clients:stop()
    local most = 200 + (ask "/clock" - from) / 1000
    assert.truthy(passed <= most, ("%d passed; it must be at most %.0f"):format(passed, most))
    assert.truthy(passed > 200, passed .. " passed; the bucket must have refilled")
  end)

  local function every_worker_answers()
    local waiting = {}
    for _, pid in ipairs(server:workers()) do
      waiting[pid] = true
    end
    nginx.until_true(function()
      local _, pid = server:get "/worker"
      waiting[pid] = nil
      return next(waiting) == nil
    end, "a worker does not answer")
  end

  it("never let more pass though workers are killed and nginx is reloaded, and none of them hangs", function()
    server = host.start { workers = WORKERS, server = places, limiters = [[
      local limits = {
        log = weir.sliding_log { name = "log", limit = 80000, window = "300d" },
        window = weir.fixed_window { name = "window", limit = 80000, window = "400d" },
        bucket = weir.token_bucket { name = "bucket", rate = "1/h", burst = 80000 },
      }
      return {
        all = weir.access { store = store, limits = { limits.log, limits.window, limits.bucket }, key = "all" },
      }, limits
    ]] }
    math.randomseed(1)
    local clients = load.start(server, "/all")
    for round = 1, 50 do
      local workers = server:workers()
      server:kill(workers[math.random(#workers)])
      if round % 5 == 1 or round % 5 == 3 then
        server:reload()
      end
      nginx.until_true(function()
        return #server:workers() >= WORKERS
      end, "a worker is not replaced")
    end
    nginx.until_true(function()
      return left "window" == 0
    end, "the limit is not reached")
    refused_more(1000)
    local _, passed = clients:stop()
    assert.truthy(passed <= 80000, passed .. " passed; it must be at most 80000")
    assert.same({ 0, 0, 0 }, { left "log", left "window", left "bucket" })
    every_worker_answers()
    assert.truthy(ask("/check")[1].settled)
  end)
end)
