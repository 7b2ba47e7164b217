--- The access phase: decides, waits, tells the client, refuses; and gives back in the log phase.

local clients = require "spec.openresty.support.clients"
local host = require "spec.openresty.support.host"
local nginx = require "spec.openresty.support.nginx"
local support = require "spec.weir.support"

local at = support.at

-- "A" for a pass, "D(n)" for a refusal to be tried again in n seconds, "A+n" for a pass after n seconds.
local function verdict(status, headers)
  if status == 200 then
    return headers.slept and ("A+%.10g"):format(tonumber(headers.slept)) or "A"
  end
  return ("%s(%s)"):format(status == 429 and "D" or status, headers["retry-after"] or "never")
end

local function verdicts(server, path, times)
  local words = {}
  for i, ms in ipairs(times) do
    local status, _, headers = server:get(path, { Now = at(ms) })
    words[i] = verdict(status, headers)
  end
  return table.concat(words, " ")
end

local algorithms = {
  { "token_bucket", 'rate = "2 per 10s", burst = 3', { 0, 0, 0, 0, 4999, 5000 }, "A A A D(5) D(1) A" },
  { "leaky_bucket", 'rate = "1 per 4s", queue = 1', { 0, 1000, 1000, 4000 }, "A A+3 D(3) A+4" },
  { "fixed_window", 'limit = 2, window = "1m"', { 58500, 59000, 59999, 60000 }, "A A D(1) A" },
  { "sliding_log", 'limit = 2, window = "1m"', { 0, 29500, 30000, 60000 }, "A A D(30) A" },
  { "sliding_counter", 'limit = 2, window = "1m"', { 0, 0, 0, 60000.001 }, "A A D(61) A" },
  { "min_gap", 'gap = "1500ms"', { 0, 1000, 1499, 1500 }, "A D(1) D(1) A" },
  { "concurrency", 'limit = 0, ttl = "1m"', { 0 }, "D(never)" },
}

local plain = [[
  local function with(limit, options)
    options = options or {}
    options.store, options.limits = options.store or at, { limit }
    return weir.access(options)
  end
  local function window(name, limit)
    return weir.fixed_window { name = name, limit = limit or 1, window = "1m" }
  end
  local function failing(code)
    local function fail()
      return nil, "it is away", code
    end
    return setmetatable({ take = fail, take_all = fail }, { __index = store })
  end
]]

local function start(options)
  options.limiters = plain .. options.limiters
  return host.start(options)
end

describe("a limiter in the access phase", function()
  local server

  after_each(function()
    server:stop()
  end)

  it("answers 429 to what each algorithm refuses, and says when to come back", function()
    local lines = {}
    for i, case in ipairs(algorithms) do
      lines[i] = ('%s = with(weir.%s { name = "%s", %s })'):format(case[1], case[1], case[1], case[2])
    end
    server = start { limiters = "host.tell_waits() return { " .. table.concat(lines, ", ") .. " }" }
    for _, case in ipairs(algorithms) do
      assert.equal(case[4], verdicts(server, "/" .. case[1], case[3]), case[1])
    end
  end)

  it("refuses all when one of its limits refuses, and then takes from none", function()
    server = start { limiters = [[
      local wide, narrow = window("wide", 3), window("narrow", 1)
      return { both = weir.access { store = at, limits = { wide, narrow } }, wide = with(wide) }
    ]] }
    assert.equal("A D(60) D(60)", verdicts(server, "/both", { 0, 0, 0 }))
    assert.equal("A A D(60)", verdicts(server, "/wide", { 0, 0, 0 }))
  end)

  it("counts the client's address, and of IPv6 the network", function()
    server = start {
      http = "set_real_ip_from 127.0.0.1; real_ip_header Address;",
      limiters = 'return { one = with(window "one") }',
    }
    local function status(address)
      return (server:get("/one", { Now = at(0), Address = address }))
    end
    assert.same({ 200, 429, 200 }, { status "192.0.2.1", status "192.0.2.1", status "192.0.2.2" })
    assert.same({ 200, 429, 200 }, { status "2001:db8::1", status "2001:db8::2", status "2001:db8:0:1::1" })
    assert.same({ 429 }, { status "::ffff:192.0.2.1" })
  end)

  it("counts by a key of variables, or of a function", function()
    server = start { limiters = [[
      return {
        text = with(window "text", { key = "$http_team/$arg_user" }),
        called = with(window "called", { key = function() return ngx.var.arg_user end }),
        field = with(window "field", { key = function(request) return request.agent end }),
      }
    ]] }
    local function status(path, team)
      return (server:get(path, { Now = at(0), Team = team, ["User-Agent"] = team }))
    end
    assert.same({ 200, 429, 200, 200 },
      { status("/text?user=a", "x"), status("/text?user=a", "x"), status("/text?user=b", "x"),
        status("/text?user=a", "y") })
    assert.same({ 200, 429, 200 }, { status "/called?user=a", status "/called?user=a", status "/called?user=b" })
    assert.same({ 200, 429, 200 }, { status("/field", "a"), status("/field", "a"), status("/field", "b") })
  end)

  it("takes the checks that a function gives, each with its own key and cost", function()
    server = start { limiters = [[
      local teams = window("teams", 5)
      return {
        costs = weir.access { store = at, checks = function(request)
          return { teams(ngx.var.http_team, request.method == "GET" and 2 or 5) }
        end },
      }
    ]] }
    local function status(team)
      return (server:get("/costs", { Now = at(0), Team = team }))
    end
    assert.same({ 200, 200, 429, 200 }, { status "a", status "a", status "a", status "b" })
  end)

  it("waits for a queue's turn, and never longer than max_delay", function()
    server = start { limiters = [[
      host.tell_waits()
      local queue = weir.leaky_bucket { name = "queue", rate = "1/s", queue = 9 }
      local first = weir.leaky_bucket { name = "queue", rate = "1/s", queue = 2 }
      return {
        given = with(first, { max_delay = "2s" }),
        found = weir.access { store = at, max_delay = "2500ms", checks = function()
          return { queue "all" }
        end },
      }
    ]] }
    assert.equal("A A+1 A+2 D(1)", verdicts(server, "/given", { 0, 0, 0, 0 }))
    assert.equal("A A+1 A+2 A+2.5", verdicts(server, "/found", { 0, 0, 0, 0 }))
    assert.truthy(server:log():find("a request waited for max_delay alone: its turn was in 3000000 us", 1, true))
  end)

  it("tells what is left in the form that was chosen, to who passes and who does not", function()
    local forms = { "draft_08", "draft_07", "draft_06", "x_seconds", "x_epoch", "none" }
    local lines = { 'byname = with(window "byname")' }
    for i, form in ipairs(forms) do
      lines[i + 1] = ('%s = with(window "%s", { headers = "%s" })'):format(form, form, form)
    end
    server = start { limiters = "return { " .. table.concat(lines, ", ") .. " }" }
    local told = {}
    for _, form in ipairs { "byname", table.unpack(forms) } do
      for _, ms in ipairs { 15000, 20000 } do
        local _, _, headers = server:get("/" .. form, { Now = at(ms) })
        local lines_of = {}
        for name, value in pairs(headers) do
          if name:find "ratelimit" or name == "retry-after" or name == "cache-control" then
            lines_of[#lines_of + 1] = name .. ": " .. value
          end
        end
        table.sort(lines_of)
        told[#told + 1] = table.concat(lines_of, " | ")
      end
    end
    local refused = "cache-control: no-store | "
    assert.same({
      'ratelimit-policy: "byname";q=1;w=60 | ratelimit: "byname";r=0;t=45',
      refused .. 'ratelimit-policy: "byname";q=1;w=60 | ratelimit: "byname";r=0;t=40 | retry-after: 40',
      'ratelimit-policy: "draft_08";q=1;w=60 | ratelimit: "draft_08";r=0;t=45',
      refused .. 'ratelimit-policy: "draft_08";q=1;w=60 | ratelimit: "draft_08";r=0;t=40 | retry-after: 40',
      "ratelimit: limit=1, remaining=0, reset=45",
      refused .. "ratelimit: limit=1, remaining=0, reset=40 | retry-after: 40",
      "ratelimit-limit: 1 | ratelimit-remaining: 0 | ratelimit-reset: 45",
      refused .. "ratelimit-limit: 1 | ratelimit-remaining: 0 | ratelimit-reset: 40 | retry-after: 40",
      "x-ratelimit-limit: 1 | x-ratelimit-remaining: 0 | x-ratelimit-reset: 45",
      refused .. "retry-after: 40 | x-ratelimit-limit: 1 | x-ratelimit-remaining: 0 | x-ratelimit-reset: 40",
      "x-ratelimit-limit: 1 | x-ratelimit-remaining: 0 | x-ratelimit-reset: 1767225660",
      refused .. "retry-after: 40 | x-ratelimit-limit: 1 | x-ratelimit-remaining: 0 | x-ratelimit-reset: 1767225660",
      "",
      refused .. "retry-after: 40",
    }, told)
  end)

  it("refuses with nginx's page, or with a body for programs when asked to", function()
    server = start { limiters = [[
      return {
        page = with(window("page", 0)),
        problem = with(window("problem", 0), { problem = true }),
        other = with(window("other", 0), { problem = true, status = 420 }),
      }
    ]] }
    local status, body, headers = server:get "/page"
    assert.same({ 429, "text/html" }, { status, headers["content-type"] })
    assert.truthy(body:find("Too Many Requests", 1, true))
    status, body, headers = server:get "/problem"
    assert.same({ 429, "application/problem+json", "no-store" },
      { status, headers["content-type"], headers["cache-control"] })
    assert.truthy(body:find("http-problem-types#quota-exceeded", 1, true))
    assert.truthy(body:find('"problem"', 1, true))
    assert.equal(420, (server:get "/other"))
  end)

  it("asks on_refused before it refuses, which may answer but can't let pass", function()
    server = start { limiters = [[
      return {
        told = with(window("told", 0), { on_refused = function(row, status)
          ngx.header.Told = ("%s %d %d"):format(row.allowed, row.binding, status)
        end }),
        answers = with(window("answers", 0), { on_refused = function()
          ngx.status = 402
          ngx.say "pay"
          ngx.exit(402)
        end }),
        breaks = with(window("breaks", 0), { on_refused = function()
          error "broken"
        end }),
      }
    ]] }
    local status, _, headers = server:get "/told"
    assert.same({ 429, "false 1 429" }, { status, headers.told })
    local body
    status, body = server:get "/answers"
    assert.same({ 402, "pay\n" }, { status, body })
    assert.equal(429, (server:get "/breaks"))
    assert.truthy(server:log():find "on_refused: .*broken")
  end)

  it("in shadow decides and logs, and the client notices nothing", function()
    server = start { limiters = [[
      return {
        shadow = with(window("quiet"), { shadow = true }),
        fails = with(window("fails"), { shadow = true, store = failing "WEIR_NOT_EXECUTED" }),
      }
    ]] }
    assert.equal("A A A", verdicts(server, "/shadow", { 0, 0, 0 }))
    local _, _, headers = server:get("/shadow", { Now = at(0) })
    assert.is_nil(headers.ratelimit)
    assert.truthy(server:log():find('a request would have been refused: by "quiet"', 1, true))
    assert.equal("A", verdicts(server, "/fails", { 0 }))
    assert.truthy(server:log():find("a request could not be decided: it is away", 1, true))
  end)

  describe("when the store is away", function()
    local function outcome(path)
      local status, _, headers = server:get(path)
      return ("%d %s"):format(status, headers["retry-after"] or "-")
    end

    it("answers 503, or what on_error says, and logs it each time", function()
      server = start { limiters = [[
        local function away(on_error, code, more)
          local options = more or {}
          options.store, options.on_error = failing(code or "WEIR_NOT_EXECUTED"), on_error
          return with(window "away", options)
        end
        return {
          default = away(), error = away "error", deny = away "deny", allow = away "allow",
          full = away("allow", "WEIR_FULL"), password = away("allow", "WEIR_WRONG_PASSWORD"),
          state = away("allow", "WEIR_STATE"), asked = away("error", nil, { error_status = 500 }),
        }
      ]] }
      assert.same({ "503 -", "503 -", "503 1", "200 -" },
        { outcome "/default", outcome "/error", outcome "/deny", outcome "/allow" })
      assert.same({ "200 -", "503 -", "503 -", "500 -" },
        { outcome "/full", outcome "/password", outcome "/state", outcome "/asked" })
      local log = server:log()
      assert.truthy(log:find("a request could not be decided: it is away (WEIR_NOT_EXECUTED)", 1, true))
      assert.truthy(log:find("a request was refused undecided: it is away (WEIR_NOT_EXECUTED)", 1, true))
      assert.truthy(log:find("a request passed undecided: it is away (WEIR_NOT_EXECUTED)", 1, true))
      assert.truthy(log:find("a request could not be decided: it is away (WEIR_WRONG_PASSWORD)", 1, true))
    end)

    it("tells who passes or is refused nothing of what is left, which nobody knows", function()
      server = start { limiters = [[
        return {
          allow = with(window "a", { store = failing "WEIR_BUSY", on_error = "allow" }),
          deny = with(window "d", { store = failing "WEIR_BUSY", on_error = "deny", problem = true }),
        }
      ]] }
      local _, _, headers = server:get "/allow"
      assert.is_nil(headers.ratelimit)
      local body
      _, body, headers = server:get "/deny"
      assert.is_nil(headers.ratelimit)
      assert.truthy(body:find("http-problem-types#temporary-reduced-capacity", 1, true))
    end)

    it("logs a pass that the store itself gave for want of an answer", function()
      server = start { limiters = [[
        local generous = setmetatable({ take = function()
          return { allowed = true, limit = 1, remaining = 0, retry_after_us = 0, reset_after_us = 0, delay_us = 0,
            source = "allow_on_error", message = "it is gone", code = "WEIR_BUSY" }
        end }, { __index = store })
        return { one = with(window "one", { store = generous }) }
      ]] }
      assert.equal("200 -", outcome "/one")
      assert.truthy(server:log():find("a request passed undecided: it is gone (WEIR_BUSY)", 1, true))
    end)
  end)

  it("never lets a request pass that it can't name, and answers it as any other error", function()
    local keys = {
      missing = "nil", refused = "false", empty = '""', list = "{}", fraction = "1.5", flag = "true",
      broken = 'error "no key"', number = "0/0",
    }
    local lines = {}
    for name, value in pairs(keys) do
      local body = name == "broken" and value or "return " .. value
      for _, on_error in ipairs { "error", "deny", "allow" } do
        lines[#lines + 1] = ('%s_%s = with(window "w", { key = function() %s end, on_error = "%s" })'):format(
          name, on_error, body, on_error)
      end
    end
    server = start { limiters = "return { " .. table.concat(lines, ",\n") .. [[,
      variable = with(window "v", { key = "$http_x_api_key", on_error = "allow" }),
      two = with(window "t", { key = "$remote_addr $http_x_api_key", on_error = "allow" }),
      none = weir.access { store = store, checks = function() end, on_error = "allow" },
      few = weir.access { store = store, checks = function() return {} end, on_error = "allow" },
      odd = weir.access { store = store, checks = function() return { false } end, on_error = "allow" },
      hole = weir.access { store = store, on_error = "allow", checks = function()
        return { window "h"("bob"), nil, window "i"("bob") }
      end },
      text = weir.access { store = store, checks = function() return "bob" end, on_error = "allow" },
      raises = weir.access { store = store, checks = function() return nil + 1 end, on_error = "allow" },
      cost = weir.access { store = store, on_error = "allow", checks = function()
        return { window "c"("bob", 1.5) }
      end },
    } ]] }
    for name in pairs(keys) do
      for _, on_error in ipairs { "error", "deny", "allow" } do
        assert.equal(503, (server:get("/" .. name .. "_" .. on_error)), name .. " " .. on_error)
      end
    end
    for _, name in ipairs { "variable", "two", "none", "few", "odd", "hole", "text", "raises", "cost" } do
      assert.equal(503, (server:get("/" .. name)), name)
    end
    assert.equal(200, (server:get("/variable", { ["X-Api-Key"] = "k" })))
  end)

  describe("whose limit is of concurrency", function()
    local slots = [[
      local slots = weir.concurrency { name = "slots", limit = 2, ttl = "1h" }
      local fixed = { slots "all" }
      return {
        slots = weir.access { store = store, limits = { slots }, key = "all" },
        both = weir.access { store = store, limits = { slots, window("narrow", 0) }, key = "all" },
        listed = weir.access { store = store, checks = function() return { slots "all" } end },
        fixed = weir.access { store = store, checks = function() return fixed end },
        jobs = weir.access { store = store, checks = function() return { slots("all", "one job") } end },
        shadow = weir.access { store = store, limits = { slots }, key = "all", shadow = true },
      }, { slots = slots }
    ]]

    local function left()
      local _, body = server:get("/store", { Verb = "peek", Limit = "slots", Key = "all" })
      return tonumber(body:match '"remaining":(%d+)')
    end

    local function until_left(count)
      nginx.until_true(function()
        return left() == count
      end, "there are not " .. count .. " places left")
    end

    it("holds a place for as long as the request is served", function()
      server = start { limiters = slots }
      local first, second = clients.send(server, "/hold/?by=slots"), clients.send(server, "/hold/?by=listed")
      until_left(0)
      assert.equal(429, (server:get "/slots"))
      assert.equal(429, (server:get "/listed"))
      assert.equal(200, (server:get "/shadow"))
      server:get "/let_go"
      assert.same({ 200, 200 }, { first:answer(), (second:answer()) })
      until_left(2)
      assert.equal(200, (server:get "/slots"))
    end)

    it("holds one place for all requests that have the same id of the caller's", function()
      server = start { limiters = slots }
      local first, second = clients.send(server, "/hold/?by=jobs"), clients.send(server, "/hold/?by=slots")
      until_left(0)
      assert.equal(200, (server:get "/jobs"))
      server:get "/let_go"
      assert.same({ 200, 200 }, { first:answer(), (second:answer()) })
    end)

    it("holds a place for each request though the list of checks is the same table", function()
      server = start { limiters = slots }
      local first, second = clients.send(server, "/hold/?by=fixed"), clients.send(server, "/hold/?by=fixed")
      until_left(0)
      assert.equal(429, (server:get "/fixed"))
      server:get "/let_go"
      assert.same({ 200, 200 }, { first:answer(), (second:answer()) })
      until_left(2)
    end)

    it("has the place back when the client goes away, and needs no timer for that", function()
      server = start { limiters = slots, http = "lua_max_pending_timers 0;" }
      local first, second = clients.send(server, "/hold/?by=slots"), clients.send(server, "/hold/?by=slots")
      until_left(0)
      first:leave()
      until_left(1)
      second:leave()
      until_left(2)
    end)

    it("holds no place for who was refused, by it or by another limit", function()
      server = start { limiters = slots }
      for _ = 1, 3 do
        assert.equal(429, (server:get "/both"))
      end
      assert.equal(2, left())
    end)

    it("gives a place back that may be held though the answer was lost", function()
      server = start { limiters = [[
        local slots = weir.concurrency { name = "slots", limit = 2, ttl = "1h" }
        local lossy = setmetatable({ take = function(_, ...)
          store:take(...)
          return nil, "it went away", "WEIR_INDETERMINATE"
        end }, { __index = store })
        return { lossy = weir.access { store = lossy, limits = { slots }, key = "all" } }, { slots = slots }
      ]] }
      for _ = 1, 3 do
        assert.equal(503, (server:get "/lossy"))
        until_left(2)
      end
    end)

    it("keeps the place while a subrequest of the request ends", function()
      server = start { limiters = slots, server = [[
        log_subrequest on;
        location = /asks {
          access_by_lua_block { limiters.slots() }
          content_by_lua_block {
            ngx.location.capture("/asked")
            ngx.say(host.store:peek(host.limits.slots, "all").remaining)
          }
        }
        location = /asked { content_by_lua_block { ngx.say("asked") } }
      ]] }
      local _, body = server:get "/asks"
      assert.equal("1\n", body)
      until_left(2)
    end)

    it("has the place back after redirects within nginx, errors and error pages", function()
      server = start { limiters = slots, server = [[
        error_page 404 /slots/not_found;
        error_page 418 = @named;
        location = /to_page { access_by_lua_block { limiters.slots() } return 404; }
        location = /exec { access_by_lua_block { limiters.slots() } content_by_lua_block { ngx.exec("/slots/again") } }
        location = /named { access_by_lua_block { limiters.slots() } content_by_lua_block { ngx.exit(418) } }
        location @named { access_by_lua_block { limiters.listed() } content_by_lua_block { ngx.say("served") } }
        location = /raises { access_by_lua_block { limiters.slots() } content_by_lua_block { error("broken") } }
        location = /bare { access_by_lua_block { limiters.slots() } content_by_lua_block { ngx.exec("/unlimited") } }
        location = /unlimited { content_by_lua_block { collectgarbage() collectgarbage() ngx.say("served") } }
      ]] }
      local statuses = { to_page = 404, exec = 200, named = 418, raises = 500, bare = 200 }
      for _ = 1, 3 do
        for name, status in pairs(statuses) do
          assert.equal(status, (server:get("/" .. name)), name)
          until_left(2)
        end
      end
    end)
  end)

  it("counts a request once, however often it is redirected within nginx and whatever it asks of itself", function()
    server = start { limiters = [[
      return { one = with(window("one", 2)), other = with(window("other", 1)) }
    ]], server = [[
      error_page 404 /one/not_found;
      location = /exec { access_by_lua_block { limiters.one() } content_by_lua_block { ngx.exec("/one/again") } }
      location = /page { access_by_lua_block { limiters.one() limiters.one() } return 404; }
      location = /asks {
        access_by_lua_block { limiters.one() }
        content_by_lua_block { ngx.say(ngx.location.capture("/asked").body) }
      }
      location = /asked { content_by_lua_block { limiters.one() ngx.say("asked") } }
      location = /first { rewrite ^ /one/rewritten last; }
      location = /two { access_by_lua_block { limiters.other() } content_by_lua_block { ngx.exec("/one/again") } }
    ]] }
    for i, path in ipairs { "/exec", "/page", "/asks", "/first" } do
      local expected = path == "/page" and "404(never) 404(never) D(60)" or "A A D(60)"
      assert.equal(expected, verdicts(server, path, { i * 60000, i * 60000, i * 60000 }), path)
    end
    assert.equal("A D(60)", verdicts(server, "/two", { 600000, 600000 }))
    assert.equal("A D(60)", verdicts(server, "/one", { 600000, 600000 }))
  end)

  it("counts each of the requests once that follow one another on a connection", function()
    server = start { limiters = 'return { one = with(window("one", 3)) }', server = [[
      location = /later { content_by_lua_block { ngx.exec("/one/again") } }
      location = /twice { access_by_lua_block { limiters.one() } content_by_lua_block { ngx.exec("/one/again") } }
    ]] }
    local paths = { "/one", "/later", "/twice", "/later", "/twice" }
    assert.same({ 200, 200, 200, 429, 429 }, clients.in_turn(server, paths, { Now = at(0) }))
  end)

  it("counts each of the requests once that share a connection of HTTP/2", function()
    server = start { listen = "http2", limiters = [[
      function host.meet()
        local flags = ngx.shared.flags
        flags:incr("met", 1, 0)
        while flags:get("met") < 3 do
          ngx.sleep(0.001)
        end
        ngx.exec("/one/again")
      end
      return { one = with(window("one", 3)) }
    ]], server = [[
      location = /met { access_by_lua_block { limiters.one() } content_by_lua_block { host.meet() } }
      location = /late { content_by_lua_block { host.meet() } }
    ]] }
    assert.equal("served\nserved\nserved\n", clients.at_once(server, { "/met?1", "/met?2", "/late" }, { Now = at(0) }))
    assert.matches("429 Too Many", clients.at_once(server, { "/one" }, { Now = at(0) }), 1, true)
  end)

  it("shows a refused request the error page that nginx was given for it", function()
    server = start { limiters = 'return { none = with(window("none", 0)) }', server = [[
      error_page 429 /none/page;
    ]] }
    local status, body = server:get "/none"
    assert.same({ 429, "served\n" }, { status, body })
  end)

  it("says nil and why where a request can't be refused", function()
    server = start { limiters = 'return { one = with(window("one", 0)) }', server = [[
      location = /filter {
        content_by_lua_block { ngx.say("served") }
        header_filter_by_lua_block {
          local row, message, code = limiters.one()
          ngx.header.Said = tostring(row) .. " " .. message .. " " .. code
        }
      }
      location = /late {
        content_by_lua_block {
          ngx.print("began ")
          ngx.flush(true)
          local row, message, code = limiters.one()
          ngx.say(tostring(row), " ", message, " ", code, "; ", tostring(limiters.one:log()))
        }
      }
      location = /rewrite { rewrite_by_lua_block { limiters.one() } content_by_lua_block { ngx.say("served") } }
      location = /content { content_by_lua_block { limiters.one() ngx.say("served") } }
    ]] }
    local _, _, headers = server:get "/filter"
    assert.equal("nil a limiter was called in the phase header_filter; it must be rewrite, access or content, and log "
      .. "for log() WEIR_INVALID", headers.said)
    local _, late = server:get "/late"
    assert.equal("began nil a limiter was called after the answer had begun; it must be called before WEIR_INVALID; "
      .. "nil\n", late)
    assert.equal(429, (server:get "/rewrite"))
    assert.equal(429, (server:get "/content"))
  end)

  it("refuses at init what it can't be made from", function()
    local wrong = {
      { "'x'", 'options was "x"; it must be a table such as { store = store, limits = { limit } }' },
      { "{}", "store is missing; it must be given" },
      { "{ store = {} }", "it must be a store, such as weir.shared { ... } opens" },
      { "{ store = store }", "0 of limits, checks and policy were given; it must be one" },
      { "{ store = store, limits = { l }, checks = print }",
        "2 of limits, checks and policy were given; it must be one" },
      { "{ store = store, limits = {} }", "it must be a list of 1 to 32 limits" },
      { "{ store = store, limits = { 7 } }",
        "limits[1] was 7; it must be a limit, such as weir.token_bucket { ... } makes" },
      { "{ store = store, checks = 7 }", "checks was 7; it must be a function" },
      { "{ store = store, checks = print, key = 'x' }", "key was given without limits, which it is for" },
      { "{ store = store, limits = { l }, key = '' }", 'key was ""; it must be a function or a text' },
      { "{ store = store, limits = { l }, request = print }", "request was given without a policy, which it is for" },
      { "{ store = store, limits = { l }, response = print }", "response was given without a policy, which it is for" },
      { "{ store = store, policy = {} }", "it must be a policy, such as weir.policy { ... } opens" },
      { "{ store = store, limits = { l }, headers = 'draft' }", 'headers was "draft"; it must be "draft_08"' },
      { "{ store = store, limits = { l }, status = 200 }",
        "status was 200; it must be an HTTP status from 400 to 599" },
      { "{ store = store, limits = { l }, on_error = 'pass' }",
        'on_error was "pass"; it must be "error", "deny" or "allow"' },
      { "{ store = store, limits = { l }, shadow = true, on_error = 'deny' }", "on_error was given with shadow" },
      { "{ store = store, limits = { l }, shadow = 1 }", "shadow was 1; it must be true or false" },
      { "{ store = store, limits = { l }, max_delay = 5 }", "max_delay was 5; it must be a duration" },
      { "{ store = store, limits = { q } }", 'max_delay was 5000000 us, and the last in the queue of leaky_bucket "q" '
        .. "waits 6000000 us: give it a shorter queue or raise max_delay" },
      { "{ store = store, limits = { l }, burst = 5 }", '"burst" is no option; the options are checks, error_status,' },
    }
    local lines = {}
    for i, case in ipairs(wrong) do
      lines[i] = ("messages[%d] = select(2, pcall(weir.access, %s))"):format(i, case[1])
    end
    server = start { limiters = [[
      local l, q = window "l", weir.leaky_bucket { name = "q", rate = "1/s", queue = 6 }
      messages = {}
    ]] .. table.concat(lines, "\n") .. "\nreturn {}", server = [[
      location = /messages { content_by_lua_block { ngx.say(table.concat(messages, "\n")) } }
    ]] }
    local _, body = server:get "/messages"
    local said = {}
    for line in body:gmatch "[^\n]+" do
      said[#said + 1] = line
    end
    assert.equal(#wrong, #said)
    for i, case in ipairs(wrong) do
      assert.truthy(said[i]:find("access: ", 1, true), said[i])
      assert.truthy(said[i]:find(case[2], 1, true), said[i])
    end
  end)
end)
