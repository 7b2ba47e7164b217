--- Cases that an HTTP host shows: C102 C114 C152 C173 C175 C177 C180 C182 C183 C186.

local clients = require "spec.openresty.support.clients"
local host = require "spec.openresty.support.host"
local json = require "dkjson"
local nginx = require "spec.openresty.support.nginx"
local support = require "spec.weir.support"

local at = support.at

describe("behind nginx,", function()
  local server

  after_each(function()
    server:stop()
  end)

  local function store(headers)
    local _, body = server:get("/store", headers)
    return json.decode(body)
  end

  local function statuses(count, path, headers)
    local list = {}
    for i = 1, count do
      list[i] = server:get(path, headers)
    end
    return list
  end

  it("C102 a wait is rounded up to the second, and a refusal never says nought", function()
    server = host.start { limiters = [[
      local gap = weir.min_gap { name = "gap", gap = "10s" }
      return { gap = weir.access { store = at, limits = { gap }, key = "$arg_key" } }
    ]] }
    local waits = {}
    for i, ms in ipairs { 0.001, 1, 200, 999, 1000, 1001, 1900, 5001 } do
      assert.equal(200, (server:get("/gap?key=" .. i, { Now = at(0) })))
      local status, _, headers = server:get("/gap?key=" .. i, { Now = at(10000 - ms) })
      assert.equal(429, status)
      waits[i] = headers["retry-after"]
    end
    assert.same({ "1", "1", "1", "1", "1", "2", "2", "6" }, waits)
  end)

  it("C114 each policy has a name, and the wait is that of the one that refuses", function()
    server = host.start { limiters = [[
      local hourly = weir.fixed_window { name = "hourly", limit = 100, window = "1h" }
      local daily = weir.fixed_window { name = "daily", limit = 1000, window = "1d" }
      return { both = weir.access { store = at, limits = { hourly, daily } } }, { hourly = hourly, daily = daily }
    ]] }
    local now = at(19 * 3600000)
    store { Verb = "charge", Limit = "hourly", Key = "127.0.0.1", Cost = 60, Now = now }
    store { Verb = "charge", Limit = "daily", Key = "127.0.0.1", Cost = 1000, Now = now }
    local status, _, headers = server:get("/both", { Now = now })
    assert.same({ 429, "18000" }, { status, headers["retry-after"] })
    assert.equal('"hourly";q=100;w=3600, "daily";q=1000;w=86400', headers["ratelimit-policy"])
    assert.equal('"hourly";r=40;t=3600, "daily";r=0;t=18000', headers.ratelimit)
  end)

  it("C152 the longest wait is told, with the limit that asks for it, and nothing is charged", function()
    server = host.start { limiters = [[
      local short = weir.min_gap { name = "short", gap = "3s" }
      local long = weir.min_gap { name = "long", gap = "50s" }
      local free = weir.fixed_window { name = "free", limit = 5, window = "1d" }
      return {
        all = weir.access { store = at, limits = { short, long, free }, on_refused = function(row)
          local rows = {}
          for i, own in ipairs(row.rows) do
            rows[i] = ("%s %.0f"):format(own.allowed, own.retry_after_us)
          end
          ngx.header.Binding, ngx.header.Rows = row.binding, table.concat(rows, ", ")
        end },
      }, { short = short, long = long, free = free }
    ]] }
    store { Verb = "take", Limit = "short", Key = "127.0.0.1", Now = at(0) }
    store { Verb = "take", Limit = "long", Key = "127.0.0.1", Now = at(0) }
    local status, _, headers = server:get("/all", { Now = at(0) })
    assert.same({ 429, "50", "2", "false 3000000, false 50000000, true 0" },
      { status, headers["retry-after"], headers.binding, headers.rows })
    assert.equal(5, store({ Verb = "peek", Limit = "free", Key = "127.0.0.1", Now = at(0) })[1].remaining)
  end)

  it("C173 false and nil for a key, or true for a cost, are mistakes that record nothing", function()
    server = host.start { limiters = [[
      local one = weir.fixed_window { name = "one", limit = 1, window = "1d" }
      local function with(key, cost)
        return weir.access { store = store, on_error = "allow", checks = function()
          return { one(key, cost) }
        end }
      end
      return { no = with(false), none = with(nil), cost = with("bob", true), id = with("bob", {}) }
    ]], server = [[
      location = /counters { content_by_lua_block { ngx.say(host.store:counters().keys) } }
    ]] }
    local said = {}
    for i, name in ipairs { "no", "none", "cost", "id" } do
      said[i] = server:get("/" .. name)
    end
    assert.same({ 503, 503, 503, 503 }, said)
    local log = server:log()
    for _, sentence in ipairs {
      "key was false; it must be text or a whole number", "key was nil; it must be text or a whole number",
      "cost was true; it must be a whole number from 0",
    } do
      assert.truthy(log:find(sentence, 1, true), sentence)
    end
    local _, keys = server:get "/counters"
    assert.equal("0\n", keys)
  end)

  it("C175 all is made at init, where there are neither requests nor sockets", function()
    server = host.start { limiters = [[
      made_in = ngx.get_phase()
      return { one = weir.access { store = store, limits = { weir.min_gap { name = "one", gap = "1h" } } } }
    ]], server = [[
      location = /made_in { content_by_lua_block { ngx.print(made_in) } }
    ]] }
    local status, phase = server:get "/made_in"
    assert.same({ 200, "init" }, { status, phase })
    assert.same({ 200, 429 }, statuses(2, "/one"))
  end)

  it("C177 places that a killed worker held are free after their ttl, and the other workers serve on", function()
    server = host.start { workers = 2, limiters = [[
      local slots = weir.concurrency { name = "slots", limit = 10, ttl = "1h" }
      return { slots = weir.access { store = store, limits = { slots }, key = "all" } }, { slots = slots }
    ]] }
    local requests = {}
    for i = 1, 10 do
      requests[i] = clients.send(server, "/hold/?by=slots")
    end
    local function left(now)
      return store({ Verb = "peek", Limit = "slots", Key = "all", Now = now })[1].remaining
    end
    nginx.until_true(function()
      return left() == 0
    end, "the places are not all taken")
    local killed = server:workers()[1]
    server:kill(killed)
    assert.same({ 429, 429, 429 }, statuses(3, "/slots"))
    assert.same({ 0, 10 }, { left(), left(os.time() * 1000000 + 3605000000) })
    server:get "/let_go"
    local served, lost = 0, 0
    for _, request in ipairs(requests) do
      if request:answer() == 200 then
        served = served + 1
      else
        lost = lost + 1
      end
    end
    assert.equal(10, served + lost)
    nginx.until_true(function()
      return left() == served
    end, "what the other worker held is not given back")
  end)

  it("C180 the store reads the clock itself, however long a handler keeps the worker busy", function()
    server = host.start { limiters = [[
      local gap = weir.min_gap { name = "gap", gap = "400ms" }
      return { gap = weir.access { store = store, limits = { gap }, key = "all" } }, { gap = gap }
    ]], server = [[
      location = /busy {
        access_by_lua_block { limiters.gap() }
        content_by_lua_block {
          local cached, from = ngx.now(), host.store:now_us()
          while host.store:now_us() < from + 400000 do end
          local row = host.store:take(host.limits.gap, "all")
          ngx.print(tostring(row.allowed), " ", tostring(ngx.now() == cached))
        }
      }
    ]] }
    local status, said = server:get "/busy"
    assert.same({ 200, "true true" }, { status, said })
  end)

  it("C182 a reload gives nobody a fresh bucket", function()
    server = host.start { workers = 2, limiters = [[
      local bucket = weir.token_bucket { name = "bucket", rate = "1 per 60m", burst = 5 }
      return { bucket = weir.access { store = store, limits = { bucket } } }
    ]] }
    assert.same({ 200, 200, 200, 200, 200, 429 }, statuses(6, "/bucket"))
    for _ = 1, 10 do
      server:reload()
      assert.equal(429, (server:get "/bucket"))
    end
  end)

  it("C183 a reload with another limit takes effect at the next request, for keys that are known too", function()
    server = host.start { workers = 2, limiters = [[
      local file = io.open(ngx.config.prefix() .. "limit")
      local count = file and file:read "*n" or 10
      local limit = weir.fixed_window { name = "changed", limit = count, window = "300d" }
      return { changed = weir.access { store = store, limits = { limit }, headers = "draft_06" } }
    ]] }
    local function reload_with(count)
      local file = assert(io.open(server.folder .. "/limit", "w"))
      file:write(count)
      file:close()
      server:reload()
    end
    local function told()
      local status, _, headers = server:get "/changed"
      return { status, headers["ratelimit-limit"], headers["ratelimit-remaining"] }
    end
    statuses(4, "/changed")
    reload_with(5)
    assert.same({ 200, "5", "0" }, told())
    reload_with(3)
    assert.same({ 429, "3", "0" }, told())
  end)

  it("C186 the limit is the same before, during and after a reload under load", function()
    server = host.start { workers = 2, limiters = [[
      local slots = weir.concurrency { name = "slots", limit = 50, ttl = "1h" }
      local function count_refusal()
        ngx.shared.flags:incr("refused", 1, 0)
      end
      local limiter = weir.access { store = store, limits = { slots }, key = "all", on_refused = count_refusal }
      return { slots = limiter }, { slots = slots }
    ]], server = [[
      location = /refused { content_by_lua_block { ngx.print(ngx.shared.flags:get "refused" or 0) } }
    ]] }
    local function left()
      return store({ Verb = "peek", Limit = "slots", Key = "all" })[1].remaining
    end
    local function refused()
      local _, count = server:get "/refused"
      return tonumber(count)
    end
    -- Until each has its place or its refusal.
    local function hundred()
      local before = refused()
      server:get "/hold_on"
      local requests = {}
      for i = 1, 100 do
        requests[i] = clients.send(server, "/hold/?by=slots")
      end
      nginx.until_true(function()
        return left() == 0 and refused() == before + 50
      end, "the places are not all taken, and all others refused")
      return requests
    end
    local function count(requests)
      server:get "/let_go"
      local passed = 0
      for _, request in ipairs(requests) do
        passed = passed + (request:answer() == 200 and 1 or 0)
      end
      return passed
    end
    local before = hundred()
    server:reload()
    assert.same({ 429, 429, 429, 429 }, statuses(4, "/slots"))
    assert.equal(50, count(before))
    nginx.until_true(function()
      return left() == 50
    end, "the places are not given back")
    assert.equal(50, count(hundred()))
  end)
end)
