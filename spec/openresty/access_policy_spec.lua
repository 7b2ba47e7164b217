--- The access phase by a policy, and its response in the log phase.

local host = require "spec.openresty.support.host"
local json = require "dkjson"
local nginx = require "spec.openresty.support.nginx"

describe("a limiter with a policy", function()
  local server

  after_each(function()
    server:stop()
  end)

  local function start(policy, options, more)
    more = more or {}
    more.limiters = ([[
      local policy = assert(weir.policy { name = "test", text = [==[%s]==], %s })
      return {
        it = weir.access { store = store, policy = policy, %s },
      }, { peek = weir.sliding_log { name = "log", limit = 3, window = "1h" },
           places = weir.concurrency { name = "places", limit = 2, ttl = "1h" } }
    ]]):format('local weir = require "weir" ' .. policy, more.policy or "", options or "")
    server = host.start(more)
  end

  local function remaining(limit, key)
    local _, body = server:get("/store", { Verb = "peek", Limit = limit, Key = key })
    return json.decode(body)[1].remaining
  end

  it("answers what the policy decides, and tells the limits that count", function()
    start([[
      local burst = weir.token_bucket { name = "burst", rate = "1/h", burst = 2 }
      local day = weir.fixed_window { name = "day", limit = 9, window = "1d" }
      local seen = weir.min_gap { name = "seen", gap = "1h", shadow = true }
      return function(request)
        return burst(request.address), day(request.address), seen(request.address)
      end
    ]])
    local _, _, headers = server:get "/it"
    assert.equal('"burst";q=2;w=7200, "day";q=9;w=86400', headers["ratelimit-policy"])
    assert.truthy(headers.ratelimit:find('^"burst";r=1;t=3600, "day";r=8;t=%d+$'))
    assert.equal(200, (server:get "/it"))
    local status
    status, _, headers = server:get "/it"
    assert.same({ 429, "3600" }, { status, headers["retry-after"] })
  end)

  it("passes or refuses by the policy's own word, and tells why", function()
    start([[
      return function(request)
        if request.path == "/it/health" then
          return true
        end
        return weir.deny "not you"
      end
    ]], [[problem = true, on_refused = function(row) ngx.header.Reason = row.reason end]])
    local status, _, headers = server:get "/it/health"
    assert.same({ 200 }, { status, headers.ratelimit })
    status, _, headers = server:get "/it"
    assert.same({ 429, "not you", "no-store", "application/problem+json" },
      { status, headers.reason, headers["cache-control"], headers["content-type"] })
    assert.is_nil(headers["retry-after"])
  end)

  local attempts = [[
    local log = weir.sliding_log { name = "log", limit = 3, window = "1h" }
    return {
      request = function(request) return log(request.address) end,
      response = function(request, response)
        if response.allowed and response.status == "200" then
          log:refund(request.address)
        end
      end,
    }
  ]]

  it("runs the response when the request has been served, and not when it was refused", function()
    start(attempts, "", { server = [[
      location = /wrong { access_by_lua_block { limiters.it() } content_by_lua_block { ngx.exit(403) } }
    ]] })
    for _ = 1, 5 do
      assert.equal(200, (server:get "/it"))
    end
    nginx.until_true(function()
      return remaining("peek", "127.0.0.1") == 3
    end, "what was right is not given back")
    for i = 1, 3 do
      assert.equal(403, (server:get "/wrong"), i)
    end
    assert.equal(429, (server:get "/wrong"))
    assert.equal(0, remaining("peek", "127.0.0.1"))
  end)

  local charging = [[
    local log = weir.sliding_log { name = "log", limit = 3, window = "1h" }
    return {
      request = function(request) return log(request.agent) end,
      response = function(request) log:charge(request.agent) end,
    }
  ]]

  it("runs the response once, however often the log phase asks for it", function()
    start(charging, "", { server = [[
      location = /twice {
        access_by_lua_block { limiters.it() }
        content_by_lua_block { ngx.say("served") }
        log_by_lua_block { weir.log() limiters.it:log() weir.log() }
      }
    ]] })
    server:get("/twice", { ["User-Agent"] = "a" })
    nginx.until_true(function()
      return remaining("peek", "a") == 1
    end, "the response was not charged once")
  end)

  it("does not run the response of a request that was refused, or that nobody decided", function()
    server = host.start { limiters = [[
      ran = 0
      local policy = assert(weir.policy { name = "test", text = [==[
        local weir = require "weir"
        local log = weir.sliding_log { name = "log", limit = 0, window = "1h" }
        return { request = function() return log "all" end, response = function() log:refund "all" end }
      ]==] })
      local function counted(row, code)
        return {
          take = function() return row, "it is away", code end, take_all = store.take_all, release = store.release,
          refund = function() ran = ran + 1 return row end,
        }
      end
      local function with(row, code)
        return weir.access { store = counted(row, code), policy = policy, on_error = "allow" }
      end
      local function row(allowed, source)
        return {
          allowed = allowed, limit = 1, remaining = 0, retry_after_us = allowed and 0 or 1, reset_after_us = 0,
          delay_us = 0, source = source,
        }
      end
      return {
        passed = with(row(true, "store")), refused = with(row(false, "store")),
        stood_in = with(row(true, "allow_on_error")), away = with(nil, "WEIR_BUSY"),
      }
    ]], workers = 1, server = "location = /ran { content_by_lua_block { ngx.print(ran) } }" }
    local said = {}
    for i, name in ipairs { "refused", "stood_in", "away", "passed" } do
      said[i] = server:get("/" .. name)
    end
    assert.same({ 429, 200, 200, 200 }, said)
    local ran, _
    nginx.until_true(function()
      _, ran = server:get "/ran"
      return ran ~= "0"
    end, "no response has run")
    assert.equal("1", ran)
  end)

  it("shows the response what the host adds, and the request as it was", function()
    start([[
      local log = weir.sliding_log { name = "log", limit = 3, window = "1h" }
      return {
        request = function(request) return log(request.team, request.cost) end,
        response = function(request, response)
          log:refund(request.team, response.kept == "yes" and tonumber(response.size) >= 7 and request.cost or 0)
        end,
      }
    ]], [[
      request = function(fields)
        fields.team, fields.cost = ngx.var.http_team, 2
        return fields
      end,
      response = function(fields)
        fields.kept = ngx.var.http_kept
        return fields
      end,
    ]])
    server:get("/it", { Team = "a", Kept = "yes" })
    nginx.until_true(function()
      return remaining("peek", "a") == 3
    end, "the cost is not given back")
    server:get("/it", { Team = "a", Kept = "no" })
    assert.equal(1, remaining("peek", "a"))
  end)

  it("gives places back that the policy releases", function()
    start([[
      local places = weir.concurrency { name = "places", limit = 2, ttl = "1h" }
      return {
        request = function(request) return places("all", request.id) end,
        response = function(request) places:release("all", request.id) end,
      }
    ]], "", { policy = 'fields = { id = "request_id" }' })
    for _ = 1, 5 do
      assert.equal(200, (server:get "/it"))
      nginx.until_true(function()
        return remaining("places", "all") == 2
      end, "the place is not given back")
    end
  end)

  it("never lets a request pass that the policy could not decide", function()
    start([[return function(request) return nil end]], 'on_error = "allow"')
    local status, _, headers = server:get "/it"
    assert.same({ 503, "no-store" }, { status, headers["cache-control"] })
    assert.truthy(server:log():find("a request could not be decided: .*WEIR_POLICY"))
  end)

  it("logs a response that breaks, which the client does not notice", function()
    start([[
      return { request = function() return true end, response = function() error "broken" end }
    ]])
    assert.equal(200, (server:get "/it"))
    nginx.until_true(function()
      return server:log():find "a response could not be settled: .*broken"
    end, "it is not logged")
  end)

  it("runs the example", function()
    server = host.start { limiters = [[
      local policy = assert(weir.policy { path = "bindings/openresty/example/login.lua" })
      return { login = weir.access { store = store, policy = policy } }
    ]], server = [[
      location = /password {
        access_by_lua_block { limiters.login() }
        content_by_lua_block { ngx.exit(tonumber(ngx.var.arg_is)) }
      }
    ]] }
    local said = {}
    for i, status in ipairs { 403, 200, 403, 200, 403, 200 } do
      said[i] = server:get("/password?is=" .. status)
    end
    assert.same({ 403, 200, 403, 200, 403, 429 }, said)
  end)
end)
