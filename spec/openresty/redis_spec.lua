--- Limits on a Redis server from inside nginx: what is sent, under which keys, and what is refused before.

local redis = require "spec.openresty.support.redis"
local redis_host = require "spec.openresty.support.redis_host"
local socket = require "socket"

-- How often the server ran commands of those names since the last CONFIG RESETSTAT.
local function ran(server, ...)
  local text, count = server:call("INFO", "commandstats"), 0
  for _, name in ipairs { ... } do
    count = count + (tonumber(text:match("cmdstat_" .. name .. ":calls=(%d+)")) or 0)
  end
  return count
end

describe("limits on Redis from OpenResty", function()
  local server, host

  setup(function()
    server = redis.start()
    host = redis_host.start { workers = 1 }
  end)

  teardown(function()
    host:stop()
    server:close()
  end)

  before_each(function()
    server:call "FLUSHALL"
  end)

  -- What code gives, in which `store` is on the server. `options` end the URL.
  local function run(code, options)
    return host:run(([[ local store = open { url = %q } %s ]]):format(server.url .. (options or "?deadline=5s"), code))
  end

  local function allowed(code)
    local row, message = run(code)
    assert(row, message)
    return row.allowed
  end

  it("decide together, each for itself, and forget", function()
    local joint, rows = run [[
      store:take(limit.fixed_window, "bob", 7)
      return store:take_all { limit.min_gap "bob", limit.fixed_window("bob", 4), limit.concurrency("bob", "a") }
    ]]
    assert.is_false(joint.allowed)
    assert.equal(2, joint.binding)
    assert.same({ 3, true, 2 }, { rows[2].remaining, rows[3].allowed, rows[3].remaining })
    joint, rows = run [[ return store:take_all { limit.fixed_window("bob", 3) } ]]
    assert.same({ true, 1, 0, 1 }, { joint.allowed, joint.binding, rows[1].remaining, #rows })
    rows = run [[
      return store:take_many { limit.fixed_window "bob", limit.min_gap "bob", limit.min_gap "bob" }
    ]]
    assert.same({ false, true, false }, { rows[1].allowed, rows[2].allowed, rows[3].allowed })
    assert.is_true(run [[ return store:reset(limit.fixed_window, "bob") ]])
    assert.is_true(run [[ return store:reset(limit.fixed_window, "bob") ]])
    assert.equal(10, run([[ return store:peek(limit.fixed_window, "bob") ]]).remaining)
    rows = run [[
      local row = store:acquire(limit.concurrency, "bob", 7)
      return { row, store:renew(limit.concurrency, "bob", "7"), store:peek(limit.concurrency, "bob"),
        store:release(limit.concurrency, "bob", 7), store:release(limit.concurrency, "bob", 7) }
    ]]
    assert.same({ true, true, 1, true, false },
      { rows[1].allowed, rows[2].allowed, rows[3].remaining, rows[4].allowed, rows[5].allowed })
  end)

  -- The C client, as the tool has it: whether it exits with 0, and what it prints.
  local function tool(words)
    local build = os.getenv "WEIR_BUILD" or "build"
    local pipe = assert(io.popen(("WEIR_STORE=%s %s/weir %s"):format(server.url, build, words)))
    local text = pipe:read "*a"
    return pipe:close() == true, text
  end

  it("are those of the C client, whatever the key and the id", function()
    local keys = { "bob", "a b", "{x}:%", "127.0.0.1", ("x"):rep(1000), ("x"):rep(128), "%#" .. ("0"):rep(64) }
    for _, key in ipairs(keys) do
      assert.is_true(allowed(([[ return store:take(limit.fixed_window, %q, 3) ]]):format(key)))
      assert.is_true(tool(("take fixed_window name=window limit=10 window=1d --key '%s' 7"):format(key)))
      assert.equal(0, run(([[ return store:peek(limit.fixed_window, %q) ]]):format(key)).remaining)
    end
    for _, id in ipairs { "job", ("i"):rep(129), "%#" .. ("0"):rep(64) } do
      assert.is_true(allowed(([[ return store:acquire(limit.concurrency, "bob", %q) ]]):format(id)))
      assert.is_true(tool(("release concurrency name=jobs limit=2 ttl=1m bob '%s'"):format(id)))
    end
    run [[ return store:take(limit.fixed_window, "bob", 4, nil, "shop 7") ]]
    local _, said = tool "peek fixed_window name=window limit=10 window=1d --tag 'shop 7' bob --json"
    assert.truthy(said:find '"remaining": ?6')
    assert.equal(6, run([[ return store:refund(limit.fixed_window, "bob", 0, nil, "shop 7") ]]).remaining)
  end)

  it("C051 go on unnoticed when the server has forgotten the scripts, or all", function()
    assert.equal(9, run([[ return store:take(limit.fixed_window, "bob") ]]).remaining)
    server:call("SCRIPT", "FLUSH")
    server:call("CONFIG", "RESETSTAT")
    assert.equal(8, run([[ return store:take(limit.fixed_window, "bob") ]]).remaining)
    assert.equal(7, run([[ return store:take(limit.fixed_window, "bob") ]]).remaining)
    assert.same({ 2, 1 }, { ran(server, "evalsha"), ran(server, "eval") })
    -- In a pipeline the first call that lacks the script brings it for all.
    server:call("SCRIPT", "FLUSH")
    server:call("CONFIG", "RESETSTAT")
    local rows = run [[
      return store:take_many { limit.fixed_window "bob", limit.fixed_window "bob", limit.fixed_window "eve" }
    ]]
    assert.same({ 6, 5, 9 }, { rows[1].remaining, rows[2].remaining, rows[3].remaining })
    assert.same({ 5, 1 }, { ran(server, "evalsha"), ran(server, "eval") })
    server:stop()
    server:start()
    assert.equal(9, run([[ return store:take(limit.fixed_window, "bob") ]]).remaining)
  end)

  it("C069 C173 C101 refuse by name what is no key, cost or id, and send nothing", function()
    run [[ return store:take(limit.fixed_window, "bob") ]]
    server:call("CONFIG", "RESETSTAT")
    local cases = {
      { [[ store:take(limit.fixed_window, nil) ]], "key was nil" },
      { [[ store:take(limit.fixed_window, false) ]], "key was false" },
      { [[ store:take(limit.fixed_window, true) ]], "key was true" },
      { [[ store:take(limit.fixed_window, {}) ]], "key was table" },
      { [[ store:take(limit.fixed_window, ngx.null) ]], "key was userdata" },
      { [[ store:take(limit.fixed_window, 1.5) ]], "key was 1.5" },
      { [[ store:take(limit.fixed_window, "") ]], 'key was empty for limit "window"' },
      { [[ store:take(limit.fixed_window, "bob", true) ]], "cost was true" },
      { [[ store:take(limit.fixed_window, "bob", "1") ]], 'cost was "1"' },
      { [[ store:take(limit.fixed_window, "bob", 1.5) ]], "cost was 1.5" },
      { [[ store:take(limit.fixed_window, "bob", -1) ]], "cost was -1" },
      { [[ store:take(limit.fixed_window, "bob", 0/0) ]], "cost was " },
      { [[ store:take(limit.fixed_window, "bob", 2^43 + 1) ]], "cost was " },
      { [[ store:take(limit.fixed_window, "bob", 1, -1) ]], "now_us was -1" },
      { [[ store:take(limit.fixed_window, "bob", 1, "x") ]], 'now_us was "x"' },
      { [[ store:take(limit.fixed_window, "bob", 1, nil, true) ]], "tag was true" },
      { [[ store:take(nil, "bob") ]], "limit was nil" },
      { [[ store:take({ c = 1 }, "bob") ]], "limit was table" },
      { [[ store:take(limit.concurrency, "bob") ]], "id was empty" },
      { [[ store:acquire(limit.concurrency, "bob", "") ]], "id was empty" },
      { [[ store:acquire(limit.concurrency, "bob", true) ]], "id was true" },
      { [[ store:acquire(limit.fixed_window, "bob", "id") ]], 'limit "window" is a fixed_window' },
      { [[ store:renew(limit.fixed_window, "bob", "id") ]], "only concurrency has renew" },
      { [[ store:refund(limit.concurrency, "bob", "id") ]], "has no refund" },
      { [[ store:reset(limit.fixed_window, "") ]], "key was empty" },
      { [[ store:reset(limit.fixed_window, false) ]], "key was false" },
      { [[ store:take_all(nil) ]], "checks was nil" },
      { [[ store:take_all {} ]], "the number of checks was 0" },
      { [[ store:take_all { 1 } ]], "checks[1] was 1" },
      { [[ store:take_all { limit.fixed_window "bob", limit.fixed_window(false) } ]], "checks[2]: key was false" },
      { [[ store:take_all { limit.min_gap "bob", limit.min_gap "bob" } ]], "stand twice in the list, at 1 and 2" },
      { [[ store:take_many { limit.fixed_window "bob", limit.min_gap("bob", -1) } ]], "checks[2]: cost was -1" },
    }
    for _, options in ipairs { "?deadline=5s", "?deadline=5s&on_error=allow" } do
      for _, case in ipairs(cases) do
        local row, message, code = run("return " .. case[1], options)
        assert.is_nil(row, case[1])
        assert.equal("WEIR_INVALID", code, case[1])
        assert.truthy(message:find(case[2], 1, true), case[1] .. ": " .. message)
      end
    end
    assert.equal(0, ran(server, "evalsha", "eval", "del"))
    -- Bytes of any value are a key.
    assert.is_true(allowed [[ return store:take(limit.min_gap, "a b%s\r\n\0z") ]])
    assert.is_true(allowed [[ return store:take(limit.min_gap, "a b%s\r\n\0y") ]])
    assert.is_false(allowed [[ return store:take(limit.min_gap, "a b%s\r\n\0z") ]])
  end)

  it("C094 keep apart what the caller keeps apart", function()
    local calls = {
      [[ store:take(weir.min_gap { name = "ip", gap = "1m" }, "127.0.0.1") ]],
      [[ store:take(weir.min_gap { name = "user", gap = "1m" }, "127.0.0.1") ]],
      [[ store:take(weir.min_gap { name = "c", gap = "1m" }, "a:b") ]],
      [[ store:take(weir.min_gap { name = "b:c", gap = "1m" }, "a") ]],
      [[ store:take(limit.min_gap, "a:b") ]],
      [[ store:take(limit.min_gap, "ab") ]],
      [[ store:take(limit.min_gap, "a", 1, nil, "b") ]],
      [[ store:take(limit.min_gap, "b", 1, nil, "a") ]],
      [[ store:take(limit.min_gap, "{a}") ]],
      [[ store:take(limit.min_gap, "%7Ba%7D") ]],
    }
    for _, call in ipairs(calls) do
      assert.is_true(allowed("return " .. call), call)
    end
    for _, call in ipairs(calls) do
      assert.is_false(allowed("return " .. call), call)
    end
  end)

  it("C096 keep long keys apart, each under a key of bounded length", function()
    local calls = { [[ ("x"):rep(1000) .. "a" ]], [[ ("x"):rep(1000) .. "b" ]], [[ ("x"):rep(2^20) ]] }
    for _, expected in ipairs { true, false } do
      for _, key in ipairs(calls) do
        assert.equal(expected, allowed(("return store:take(limit.min_gap, %s)"):format(key)))
      end
    end
    for _, key in ipairs(server:call("KEYS", "*")) do
      assert.truthy(#key < 200)
    end
  end)

  it("send numbers whole, however large", function()
    local row = run [[
      local large = weir.token_bucket { name = "large", rate = 2^40, period = "1d", burst = 2^40 }
      return store:take(large, "bob", 2^40 - 1, 2^52)
    ]]
    assert.same({ true, 1 }, { row.allowed, row.remaining })
  end)

  it("open with a URL and options that are sound, and say what is not", function()
    local function opened(options)
      return host:run(([[
        local store, message, code = require "resty.weir.redis".open(%s)
        return store and store.settings, message, code
      ]]):format(options))
    end
    local s = opened [[
      { url = "redis://us%65r:p%40ss@[::1]:7000/3?deadline=20ms&connections=4&name=w&on_error=deny" }
    ]]
    assert.same({ "[::1]", 7000, 3, "user", "p@ss", 20, 4, "w", "deny" },
      { s.host, s.port, s.db, s.user, s.password, s.timeout, s.pool_size, s.name, s.on_error })
    s = opened [[ { url = "redis://:secret@example.com", db = 2, timeout = "1.5s", keepalive = "10s" } ]]
    assert.same({ "example.com", 6379, 2, "secret", 1500, 10000 },
      { s.host, s.port, s.db, s.password, s.timeout, s.keepalive })
    s = opened [[ { url = "redis+unix://u:p@/tmp/a%20b?db=1&cluster=no" } ]]
    assert.same({ "/tmp/a b", 1, "u", "p" }, { s.path, s.db, s.user, s.password })
    s = opened "{}"
    assert.same({ "127.0.0.1", 6379, 0, 100, 60000, 32, "error" },
      { s.host, s.port, s.db, s.timeout, s.keepalive, s.pool_size, s.on_error })
    local wrong = {
      { "nil", "options were a nil" },
      { [[ { url = 1 } ]], "url was a number" },
      { [[ { url = "http://secret" } ]], "url must begin with redis://" },
      { [[ { url = "rediss://secret" } ]], "TLS is not offered" },
      { [[ { url = "redis://secret@host" } ]], "url has a user and no password" },
      { [[ { url = "redis://u:secret%zz@host" } ]], "password of the url has a %" },
      { [[ { url = "redis://host:secret" } ]], "url must have host:port" },
      { [[ { url = "redis://host:0" } ]], "port was 0" },
      { [[ { url = "redis://host/secret" } ]], "db was secret" },
      { [[ { url = "redis://host/0?secret=1" } ]], "url has an option that is none of" },
      { [[ { url = "redis://host/0?name=a&name=b" } ]], "url has name twice" },
      { [[ { url = "redis://host/0?cluster=true" } ]], "cluster was true" },
      { [[ { url = "redis+unix://host/socket" } ]], "url must have the absolute path" },
      { [[ { url = "redis+unix://" } ]], "path must be" },
      { [[ { path = "socket" } ]], "path must be the absolute path" },
      { [[ { port = 65536 } ]], "port was 65536" },
      { [[ { timeout = 100 } ]], "timeout must be a duration" },
      { [[ { timeout = "10us" } ]], "timeout must be a duration" },
      { [[ { timeout = "2h" } ]], "timeout must be a duration" },
      { [[ { pool_size = 0 } ]], "pool_size was 0" },
      { [[ { on_error = "open" } ]], "on_error must be one of error, deny, allow" },
      { [[ { user = "bob" } ]], "user is given without a password" },
      { [[ { cluster = true, db = 1 } ]], "a cluster has only db 0" },
      { [[ { hots = "example.com" } ]], "hots is no option" },
    }
    for _, case in ipairs(wrong) do
      local fine, message, code = opened(case[1])
      assert.is_nil(fine, case[1])
      assert.equal("WEIR_INVALID", code)
      assert.truthy(message:find(case[2], 1, true), case[1] .. ": " .. message)
      assert.is_nil(message:find("secret", 1, true) and not case[1]:find "host/secret" or nil, message)
    end
  end)

  it("know each error of a server as the C client does", function()
    local file = assert(io.open "c/src/store/redis/refusal.c")
    local source = file:read "*a"
    file:close()
    source = source:match "refusals%[%] = {(.-)};"
    local count = 0
    for code, status, again, sentence in source:gmatch '{"([^"]+)", WEIR_([A-Z_]+), (%l+), %l+,%s*([^}]+)}' do
      local found = host:run(([[ return require "resty.weir.redis.refusal".of(%q) ]]):format(code .. " more"))
      assert.same({ "WEIR_" .. status, again == "true" }, { found.code, found.again }, code)
      local text = sentence:match '^"(.*)"$'
      assert.equal(text or "the user lacks a right; see its ACL", found.sentence)
      count = count + 1
    end
    assert.equal(28, count)
    local others = {
      ["BUSYKEY Target key name already exists."] = "WEIR_PROTOCOL",
      ["HMM"] = "WEIR_PROTOCOL",
      ["ERR Error running script (call to f_1): @user_script:5: @user_script: 5: -READONLY You can't write"] =
        "WEIR_READONLY",
      ["ERR ACL failure in script: No permissions to access a key"] = "WEIR_NOT_PERMITTED",
    }
    for text, code in pairs(others) do
      local found = host:run(([[ return require "resty.weir.redis.refusal".of(%q) ]]):format(text))
      assert.equal(code, found.code)
    end
  end)
end)

describe("a Redis store with a password and a database", function()
  local server, host

  before_each(function()
    server = redis.start("--requirepass sesame --databases 4", "sesame")
    server:call("ACL", "SETUSER", "reader", "on", ">book", "~*", "+evalsha", "+eval", "+get", "+time", "+select")
    host = redis_host.start { workers = 1 }
  end)

  after_each(function()
    host:stop()
    server:close()
  end)

  local function take(options)
    return host:run(([[ return open { path = %q, timeout = "5s", %s }:take(limit.fixed_window, "bob") ]])
      :format(server.path, options))
  end

  it("C072 has both again on a new connection", function()
    server:call("SELECT", "3")
    for used = 1, 4 do
      assert.equal(10 - used, take([[ password = "sesame", db = 3 ]]).remaining)
      assert.equal(1, server:call "DBSIZE")
      server:call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    end
  end)

  it("shares no idle connection with a store that is another user's, or of another database", function()
    server:call("ACL", "SETUSER", "bob", "on", ">sesame", "~*", "+@all")
    assert.equal(9, take([[ password = "sesame" ]]).remaining)
    assert.equal(9, take([[ password = "sesame", db = 1 ]]).remaining)
    assert.equal(8, take([[ user = "bob", password = "sesame" ]]).remaining)
    assert.equal(3, server:connections())
    assert.equal(7, take([[ password = "sesame" ]]).remaining)
    assert.equal(3, server:connections())
    for _, options in ipairs { [[ password = "wrong" ]], "db = 0", [[ user = "bob", password = "wrong" ]] } do
      local row, _, code = take(options)
      assert.same({ nil, "WEIR_WRONG_PASSWORD" }, { row, code })
    end
  end)

  it("C075 never lets pass what somebody has to mend", function()
    local cases = {
      { "", "WEIR_WRONG_PASSWORD" },
      { [[ password = "other", ]], "WEIR_WRONG_PASSWORD" },
      { [[ user = "nobody", password = "sesame", ]], "WEIR_WRONG_PASSWORD" },
      { [[ password = "sesame", db = 9, ]], "WEIR_WRONG_DB" },
      { [[ user = "reader", password = "book", ]], "WEIR_NOT_PERMITTED" },
      { [[ path = nil, host = "redis.invalid", password = "sesame", ]], "WEIR_INVALID" },
    }
    for _, mode in ipairs { "error", "deny", "allow" } do
      for _, case in ipairs(cases) do
        local row, message, code = take(("%s on_error = %q"):format(case[1], mode))
        assert.is_nil(row, case[1])
        assert.equal(case[2], code, message)
        assert.is_nil(message:find("sesame", 1, true))
      end
    end
    server:call("SET", "weir1:{bob}:bob:window:fixed_window", "something else")
    local _, _, code = take [[ password = "sesame", on_error = "allow" ]]
    assert.equal("WEIR_STATE", code)
  end)
end)

describe("a Redis store in a phase without sockets", function()
  it("C175 is opened and asked there, says why it can't, and breaks nothing", function()
    local server = redis.start()
    local host = redis_host.start {
      workers = 2,
      http = [[
        lua_shared_dict said 1m;
        init_worker_by_lua_block { note "init_worker" }
      ]],
      init = ([[
        window = require "resty.weir.limit".fixed_window { name = "window", limit = 10, window = "1d" }
        store = assert(require "resty.weir.redis".open { url = "%s", timeout = "5s" })
        function note(phase)
          local row, message, code = store:take(window, "bob")
          row = row or store:take_all { window "bob" } or store:take_many { window "bob" } or store:reset(window, "bob")
          ngx.shared.said:set(phase, table.concat({ tostring(row), code, message }, " "))
        end
        note "init"
      ]]):format(server.url),
      server = [[
        location = /phases {
          set_by_lua_block $set { note "set" return "" }
          rewrite_by_lua_block { rewritten = store:take(window, "eve").remaining }
          access_by_lua_block { accessed = store:take(window, "eve").remaining }
          content_by_lua_block { ngx.say(rewritten, " ", accessed, " ", store:take(window, "eve").remaining) }
          header_filter_by_lua_block { note "header_filter" }
          body_filter_by_lua_block { note "body_filter" }
          log_by_lua_block {
            note "log"
            ngx.timer.at(0, function() ngx.shared.said:set("timer", store:take(window, "eve").remaining) end)
          }
        }
        location = /said { content_by_lua_block { ngx.print(ngx.shared.said:get(ngx.var.arg_phase)) } }
      ]],
    }
    local status, body = host.nginx:get "/phases"
    assert.same({ 200, "9 8 7\n" }, { status, body })
    local function said(phase)
      local _, text = host.nginx:get("/said?phase=" .. phase)
      return text
    end
    for _, phase in ipairs { "init", "init_worker", "set", "header_filter", "body_filter", "log" } do
      local text = said(phase)
      assert.truthy(text:find("^nil WEIR_INVALID the phase was " .. phase), text)
      assert.truthy(text:find("ngx.timer.at(0, f)", 1, true))
    end
    local deadline = socket.gettime() + 10
    while said "timer" ~= "6" do
      assert(socket.gettime() < deadline, "the timer takes nothing")
    end
    host:stop()
    server:close()
  end)
end)

describe("a Redis store in a cluster", function()
  local options = "--cluster-enabled yes --cluster-port %d"
  local nodes, host

  local function free_port()
    local probe = assert(socket.bind("127.0.0.1", 0))
    local _, port = probe:getsockname()
    probe:close()
    return port
  end

  setup(function()
    nodes = {}
    for i, slots in ipairs { { "0", "8191" }, { "8192", "16383" } } do
      local bus = free_port()
      nodes[i] = redis.start(options:format(bus))
      nodes[i].bus = bus
      nodes[i]:call("CLUSTER", "ADDSLOTSRANGE", table.unpack(slots))
    end
    nodes[1]:call("CLUSTER", "MEET", "127.0.0.1", tostring(nodes[2].port), tostring(nodes[2].bus))
    local deadline = socket.gettime() + 20
    for _, node in ipairs(nodes) do
      while not node:call("CLUSTER", "INFO"):find "cluster_state:ok.*cluster_known_nodes:2" do
        assert(socket.gettime() < deadline, "the cluster does not form")
      end
    end
    host = redis_host.start { workers = 1 }
  end)

  teardown(function()
    host:stop()
    nodes[1]:close()
    nodes[2]:close()
  end)

  local function run(code)
    return host:run(([[ local store = open { path = %q, timeout = "5s", cluster = true, on_error = "allow" } %s ]])
      :format(nodes[1].path, code))
  end

  it("C056 says which keys are another node's, and answers the rest", function()
    local here, elsewhere = 0, 0
    for i = 1, 100 do
      local key = ("user %d"):format(i * 7919)
      local name = ("weir1:{%s}:%s:window:fixed_window"):format(key:gsub(" ", "%%20"), (key:gsub(" ", "%%20")))
      local row, message, code = run(([[ return store:take(limit.fixed_window, %q) ]]):format(key))
      if nodes[1]:call("CLUSTER", "KEYSLOT", name) <= 8191 then
        assert.equal(9, row and row.remaining, message)
        here = here + 1
      else
        assert.same({ nil, "WEIR_WRONG_NODE" }, { row, code })
        elsewhere = elsewhere + 1
      end
    end
    assert.truthy(here > 20 and elsewhere > 20)
  end)

  it("C181 takes the same calls as a single server, and keeps its connection as one does", function()
    local single = redis.start()
    local number = 1
    while nodes[1]:call("CLUSTER", "KEYSLOT", "shop" .. number) > 8191 do
      number = number + 1
    end
    local calls = ([[
      local window, jobs, tag = limit.fixed_window, limit.concurrency, "shop%d"
      local function tagged(check) check.tag = tag return check end
      local joint, rows = store:take_all { tagged(window("bob", 2)), tagged(jobs("bob", "a")) }
      local many = store:take_many { tagged(window("bob", 3)), tagged(window("eve", 11)) }
      local answers = { joint, rows[1], rows[2], many[1], many[2], store:take(window, "bob", 1, nil, tag),
        store:peek(window, "bob", 1, nil, tag), store:refund(window, "bob", 2, nil, tag),
        store:charge(window, "bob", 5, nil, tag), store:acquire(jobs, "bob", "b", nil, tag),
        store:renew(jobs, "bob", "b", nil, tag), store:release(jobs, "bob", "a", nil, tag) }
      local said = {}
      for i, row in ipairs(answers) do said[i] = tostring(row.allowed) .. " " .. row.remaining end
      said[#said + 1] = tostring(store:reset(window, "bob", tag)) .. " " .. tostring(store:reset(jobs, "bob", tag))
      return said
    ]]):format(number)
    local expected = { "true 1", "true 8", "true 1", "true 5", "false 10", "true 4", "true 4", "true 6", "true 1",
      "true 0", "true 0", "true 1", "true true" }
    local on_single = ([[ local store = open { path = %q, timeout = "5s" } ]]):format(single.path)
    for _ = 1, 3 do
      assert.same(expected, run(calls))
      assert.same(expected, host:run(on_single .. calls))
    end
    assert.same({ 1, 1 }, { nodes[1]:connections(), single:connections() })
    single:close()
  end)

  it("C059 C154 decides together what has one tag, and refuses what has none before it is sent", function()
    local all = [[
      local checks = { limit.token_bucket "%s", limit.leaky_bucket "%s", limit.fixed_window "%s",
        limit.sliding_log "%s", limit.sliding_counter "%s", limit.min_gap "%s", limit.concurrency("%s", "id") }
      for _, check in ipairs(checks) do check.tag = %s end
      return store:take_all(checks)
    ]]
    local answered = 0
    for i = 1, 20 do
      local joint, message, code = run((all:format("u", "v", "w", "x", "y", "z", "t", ("%q"):format("shop " .. i))))
      answered = answered + (joint and 1 or 0)
      assert.truthy(joint or code == "WEIR_WRONG_NODE", message)
      joint, message, code = run((all:gsub('%%s"', i .. '"'):gsub("%%s", "nil")))
      assert.truthy(joint or code == "WEIR_WRONG_NODE", message)
    end
    assert.truthy(answered > 2)
    nodes[1]:call("CONFIG", "RESETSTAT")
    local joint, message, code = run [[ return store:take_all { limit.fixed_window "bob", limit.min_gap "eve" } ]]
    assert.is_nil(joint)
    assert.equal("WEIR_CROSS_SLOT", code)
    assert.truthy(message:find("give the checks one tag", 1, true))
    assert.equal(0, ran(nodes[1], "evalsha", "eval"))
  end)

  it("answers WEIR_CROSS_SLOT too when it was not told of the cluster", function()
    local _, _, code = host:run(([[
      return open { path = %q, timeout = "5s" }:take_all { limit.fixed_window "bob", limit.min_gap "eve" }
    ]]):format(nodes[1].path))
    assert.equal("WEIR_CROSS_SLOT", code)
  end)
end)
