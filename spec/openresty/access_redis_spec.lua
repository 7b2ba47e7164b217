--- The access phase on a Redis server: the log phase has no sockets, and the server may be away.

local clients = require "spec.openresty.support.clients"
local host = require "spec.openresty.support.host"
local json = require "dkjson"
local nginx = require "spec.openresty.support.nginx"
local redis_server = require "spec.scripts.support.server"

describe("a limiter on a Redis server", function()
  local redis, server

  before_each(function()
    redis = redis_server.start { binary = "redis-server", options = "" }
  end)

  after_each(function()
    server:stop()
    redis:stop()
  end)

  local function start(limiters, more)
    more = more or {}
    more.limiters = ([[
      package.preload["resty.redis"] = function() return require "nginx.redis" end
      local redis = assert(weir.redis { url = "redis+unix://%s" })
      local slots = weir.concurrency { name = "slots", limit = 2, ttl = "1h" }
      host.store = redis
      %s
    ]]):format(redis.path, limiters)
    server = host.start(more)
  end

  local one = [[
    local window = weir.fixed_window { name = "window", limit = 5, window = "300d" }
    local policy = assert(weir.policy { name = "slots", fields = { id = "request_id" }, text = [==[
      local weir = require "weir"
      local slots = weir.concurrency { name = "slots", limit = 2, ttl = "1h" }
      return {
        request = function(request) return slots("all", request.id) end,
        response = function(request) slots:release("all", request.id) end,
      }
    ]==] })
    local function with(options)
      options.store, options.key = redis, not (options.checks or options.policy) and "all" or nil
      return weir.access(options)
    end
    return {
      window = with { limits = { window } },
      slots = with { limits = { slots } },
      policy = with { policy = policy },
      tagged = with { checks = function()
        local check = slots "all"
        check.tag = "acme"
        return { check }
      end },
      error = with { limits = { window } },
      deny = with { limits = { window }, on_error = "deny" },
      allow = with { limits = { window }, on_error = "allow" },
    }, { slots = slots }
  ]]

  local function left()
    local _, body = server:get("/store", { Verb = "peek", Limit = "slots", Key = "all" })
    return json.decode(body)[1].remaining
  end

  local function until_left(count)
    nginx.until_true(function()
      return left() == count
    end, "there are not " .. count .. " places left")
  end

  it("lets exactly as many pass as the limit says, whichever worker is asked", function()
    start(one)
    local passed = 0
    for _ = 1, 20 do
      passed = passed + (server:get "/window" == 200 and 1 or 0)
    end
    assert.equal(5, passed)
  end)

  it("gives places back after the log phase, from limits and from policies", function()
    start(one)
    for _, path in ipairs { "slots", "policy" } do
      local first, second = clients.send(server, "/hold/?by=" .. path), clients.send(server, "/hold/?by=" .. path)
      until_left(0)
      assert.equal(429, (server:get("/" .. path)))
      server:get "/let_go"
      assert.same({ 200, 200 }, { first:answer(), (second:answer()) })
      until_left(2)
      server:get "/hold_on"
    end
  end)

  it("takes and gives back under the tag of a check", function()
    start(one)
    local request = clients.send(server, "/hold/?by=tagged")
    local key = "weir1:{acme}:all:slots:concurrency"
    nginx.until_true(function()
      return redis.connection:call("EXISTS", key) == 1
    end, "no place is held")
    assert.equal(2, left())
    server:get "/let_go"
    assert.equal(200, (request:answer()))
    nginx.until_true(function()
      return redis.connection:call("EXISTS", key) == 0
    end, "the place is not given back")
  end)

  it("gives places back when its worker ends meanwhile", function()
    start(one)
    local request = clients.send(server, "/hold/?by=slots")
    until_left(1)
    server:reload()
    server:get "/let_go"
    assert.equal(200, (request:answer()))
    until_left(2)
  end)

  it("answers as on_error says while the server is away, and goes on when it is back", function()
    start(one, { workers = 1 })
    assert.equal(200, (server:get "/window"))
    local path = redis.path
    os.rename(path, path .. ".away")
    redis.connection:call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    local said = {}
    for i, name in ipairs { "error", "deny", "allow" } do
      said[i] = server:get("/" .. name)
    end
    assert.same({ 503, 503, 200 }, said)
    local log = server:log()
    assert.truthy(log:find "a request could not be decided: .*WEIR_NOT_EXECUTED")
    assert.truthy(log:find "a request was refused undecided: .*WEIR_NOT_EXECUTED")
    assert.truthy(log:find "a request passed undecided: .*WEIR_NOT_EXECUTED")
    os.rename(path .. ".away", path)
    assert.equal(200, (server:get "/window"))
  end)

  it("says in the log what it could not give back", function()
    start(one, { workers = 1 })
    local request = clients.send(server, "/hold/?by=slots")
    until_left(1)
    os.rename(redis.path, redis.path .. ".away")
    redis.connection:call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    server:get "/let_go"
    assert.equal(200, (request:answer()))
    nginx.until_true(function()
      return server:log():find "a place could not be given back: .*WEIR_NOT_EXECUTED"
    end, "it is not logged")
    os.rename(redis.path .. ".away", redis.path)
  end)
end)

describe("the work that is left for timers", function()
  local server

  after_each(function()
    server:stop()
  end)

  local places = [[
    location = /counters { content_by_lua_block { ngx.say(host.json.encode(later.counters())) } }
    location = /many {
      log_by_lua_block {
        for i = 1, tonumber(ngx.var.arg_count) do
          last = { later.run(function() sum = (sum or 0) + 1 end) }
        end
      }
      content_by_lua_block { ngx.say("served") }
    }
    location = /breaks {
      log_by_lua_block { later.run(function() error("broken") end) later.run(function() sum = 1 end) }
      content_by_lua_block { ngx.say("served") }
    }
    location = /last { content_by_lua_block { ngx.print(host.json.encode(last)) } }
  ]]

  local function start(settings)
    server = host.start {
      workers = 1, http = settings, server = places,
      limiters = 'later = require "resty.weir.later" return {}',
    }
  end

  local function until_counted(expected)
    nginx.until_true(function()
      local _, body = server:get "/counters"
      local counters = json.decode(body)
      return counters.done == expected.done and counters.dropped == expected.dropped and counters.waiting == 0
    end, "the counters are other ones")
  end

  it("is all done, by however few timers nginx has", function()
    start "lua_max_pending_timers 2; lua_max_running_timers 2;"
    for _ = 1, 3 do
      server:get "/many?count=500"
    end
    until_counted { done = 1500, dropped = 0 }
  end)

  it("is dropped, logged and counted when too much of it waits", function()
    start ""
    server:get "/many?count=8195"
    until_counted { done = 8192, dropped = 3 }
    local _, last = server:get "/last"
    assert.same({ "what 1 requests took could not be given back: 8192 others wait already", "WEIR_NOT_EXECUTED" },
      { json.decode(last)[2], json.decode(last)[3] })
    assert.truthy(server:log():find("8192 others wait already", 1, true))
  end)

  it("is dropped, logged and counted when there is no timer at all", function()
    start "lua_max_pending_timers 0;"
    server:get "/many?count=3"
    until_counted { done = 0, dropped = 3 }
    assert.truthy(server:log():find("could not be given back: too many pending timers", 1, true))
  end)

  it("does not stop at one that breaks", function()
    start ""
    server:get "/breaks"
    until_counted { done = 2, dropped = 0 }
    assert.truthy(server:log():find("weir: .*broken"))
  end)
end)
