--- Redis servers and networks that fail, under nginx: each call ends by its deadline with the right code, is counted
-- once or not at all, and the next request never reads another's reply.

local proxy = require "spec.openresty.support.proxy"
local redis = require "spec.openresty.support.redis"
local redis_host = require "spec.openresty.support.redis_host"

describe("a call on Redis from OpenResty", function()
  local server, host, between

  setup(function()
    server = redis.start()
    host = redis_host.start { workers = 1 }
  end)

  teardown(function()
    local log = host.nginx:log()
    host:stop()
    server:close()
    assert.is_nil(log:match "%[error%][^\n]*", "nginx logs no error of a socket")
  end)

  before_each(function()
    server:call "FLUSHALL"
    between = proxy.open(server)
  end)

  after_each(function()
    between:close()
  end)

  -- Asks through the proxy. `options` end the URL; `code` sees the store.
  local function ask(code, options)
    local reach = ([[ local store = open { url = %q } ]]):format(between.url .. (options or "?deadline=5s"))
    return between:ask(host, reach .. code)
  end

  local function take(key, options)
    return ask(([[ return store:take(limit.fixed_window, %q) ]]):format(key), options)
  end

  -- How much of the key's limit is taken, by the server's own word.
  local function used(key)
    return 10 - host:run(([[ return open { url = %q }:peek(limit.fixed_window, %q) ]]):format(
      server.url .. "?deadline=5s", key)).remaining
  end

  -- One call meets what on_call does. Then nothing is repeated, the server has counted it as often as is said, and the
  -- next request gets its own verdict, on a new connection: the other is closed.
  local function ends_as(expected, what, on_call, options, counted)
    assert.is_true(assert(take "warm").allowed) -- from here on there is an idle connection
    assert.equal(1, between:standing())
    server:call("DEL", "weir1:{warm}:warm:window:fixed_window")
    local calls, connections = between.calls, between.connections
    between.on_call = on_call
    local row, message, code = take(what, options)
    between.on_call = nil
    assert.same({ nil, expected }, { row, code }, what)
    assert.truthy(message:find(between.url:sub(9), 1, true), message)
    assert.equal(calls + 1, between.calls, what)
    assert.equal(counted or 1, used(what), what)
    local own = assert(take(what .. " of the next"))
    assert.same({ true, 9 }, { own.allowed, own.remaining }, what)
    assert.same({ connections + 1, 1 }, { between.connections, between:standing() }, what)
  end

  it("C053 C172 without an answer was counted once, is not repeated, and its connection is not used again", function()
    local function instead(text)
      return function(_, forward)
        forward()
        return text
      end
    end
    local row = "*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n"
    local cases = {
      { "a garbled reply", "\1\255 garbage\r\n" },
      { "a page", "HTTP/1.1 502 Bad Gateway\r\n\r\n" },
      { "an empty line", "\r\n" },
      { "a text", "+OK\r\n" },
      { "a bulk", "$2\r\nOK\r\n" },
      { "nil", "$-1\r\n" },
      { "no list", "*-1\r\n" },
      { "one number", ":1\r\n" },
      { "no number", ":one\r\n" },
      { "a size that is none", "$x\r\n" },
      { "a count that is none", "*x\r\n" },
      { "too few", "*5\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n" },
      { "another limit's", "*6\r\n:1\r\n:11\r\n:9\r\n:0\r\n:1\r\n:0\r\n" },
      { "out of range", "*6\r\n:1\r\n:10\r\n:99\r\n:0\r\n:1\r\n:0\r\n" },
      { "a fraction", "*6\r\n:1\r\n:10\r\n:9.5\r\n:0\r\n:1\r\n:0\r\n" },
      { "not a number", "*6\r\n:1\r\n:10\r\n:nan\r\n:0\r\n:1\r\n:0\r\n" },
      { "allowed with a wait", "*6\r\n:1\r\n:10\r\n:9\r\n:5\r\n:1\r\n:0\r\n" },
      { "refused without one", "*6\r\n:0\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n" },
      { "a delay of no queue", "*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:7\r\n" },
      { "neither allowed nor not", "*6\r\n:2\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n" },
      { "a text within", "*6\r\n$1\r\n1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n" },
      { "a list within", "*6\r\n*1\r\n:1\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n" },
      { "an error within", "*6\r\n-ERR\r\n:10\r\n:9\r\n:0\r\n:1\r\n:0\r\n" },
      { "one reply more", row .. row },
      { "a huge list", "*1000000000\r\n" },
      { "an error that nobody knows", "-HMM what\r\n" },
      { "an error of the script", "-ERR Error running script: @user_script:1: nil\r\n" },
    }
    for _, case in ipairs(cases) do
      ends_as("WEIR_PROTOCOL", case[1], instead(case[2]))
    end
  end)

  it("C067 C068 C172 whose reply is cut at any place was counted once", function()
    local size = #"*6\r\n:1\r\n:10\r\n:9\r\n:0\r\n:86400000000\r\n:0\r\n" - 1
    for count = 0, size do
      ends_as("WEIR_INDETERMINATE", ("cut after %d"):format(count), function(_, forward)
        return forward():sub(1, count), "close"
      end)
    end
  end)

  it("C067 C172 whose reply is late, from any place on, ends at the deadline, and nobody gets the rest", function()
    for count = 0, 35, 5 do
      ends_as("WEIR_INDETERMINATE", ("late after %d"):format(count), function(_, forward)
        local reply = forward()
        return reply:sub(1, count), function()
          return ""
        end
      end, "?deadline=60ms")
    end
  end)

  it("ends at the deadline though bytes of the reply come all the while", function()
    local cases = { "*6\r\n:1\r\n:", "+", "$1000000000\r\n", "*2000000\r\n:1\r\n:" }
    for i, text in ipairs(cases) do
      ends_as("WEIR_INDETERMINATE", ("endless %d"):format(i), function(_, forward)
        forward()
        return text, function()
          return "0"
        end
      end, "?deadline=60ms")
    end
  end)

  it("has its answer when the reply comes byte by byte in time", function()
    between.on_call = function(_, forward)
      local reply, at = forward(), 1
      return reply:sub(1, 1), function()
        at = at + 1
        return reply:sub(at, at)
      end
    end
    assert.equal(9, assert(take "drip").remaining)
  end)

  it("C068 whose peer hangs up before the call was not counted, or may have been, and is not repeated", function()
    ends_as("WEIR_INDETERMINATE", "hung up", function()
      return "", "close"
    end, nil, 0)
  end)

  it("is made again while the server itself says that nothing ran", function()
    local passing = {
      LOADING = "WEIR_LOADING", BUSY = "WEIR_BUSY", READONLY = "WEIR_READONLY", MASTERDOWN = "WEIR_NOT_EXECUTED",
      CLUSTERDOWN = "WEIR_NOT_EXECUTED", TRYAGAIN = "WEIR_NOT_EXECUTED", NOREPLICAS = "WEIR_NOT_EXECUTED",
      ["ERR max number of clients reached"] = "WEIR_NOT_EXECUTED", NOSCRIPT = "WEIR_NOT_EXECUTED",
    }
    for text, expected in pairs(passing) do
      local left, calls = 2, between.calls
      between.on_call = function(_, forward)
        left = left - 1
        return left >= 0 and ("-%s for a test\r\n"):format(text) or forward()
      end
      assert.equal(9, assert(take(text)).remaining, text)
      assert.equal(3, between.calls - calls, text)
      left = 1000000
      -- The deadline may come while it is made once more, and then nobody knows.
      local row
      for _ = 1, 20 do
        row = take(text, "?deadline=60ms&on_error=deny")
        assert.same({ false, 1000000, "deny_on_error" }, { row.allowed, row.retry_after_us, row.source })
        if row.code ~= "WEIR_INDETERMINATE" then
          break
        end
      end
      assert.equal(expected, row.code)
      assert.truthy(between.calls - calls > 4, text)
      between.on_call = nil
      assert.equal(1, used(text), text)
    end
  end)

  it("is given up before its deadline when no other attempt fits in", function()
    between.on_call = function()
      return "-LOADING for a test\r\n"
    end
    local took_ms
    for _ = 1, 20 do -- the deadline may come in the middle of an attempt
      took_ms = ask([[
        local function now_ms() ngx.update_time() return ngx.now() * 1000 end
        local from_ms = now_ms()
        store:take(limit.fixed_window, "bob")
        return now_ms() - from_ms
      ]], "?deadline=60ms")
      if took_ms < 55 then
        break
      end
    end
    assert.truthy(took_ms < 55, took_ms)
  end)

  it("is not made again when a person has to mend it, and never passes then", function()
    local wrong = {
      WRONGPASS = "WEIR_WRONG_PASSWORD", NOAUTH = "WEIR_WRONG_PASSWORD", NOPERM = "WEIR_NOT_PERMITTED",
      MOVED = "WEIR_WRONG_NODE", ASK = "WEIR_WRONG_NODE", CROSSSLOT = "WEIR_CROSS_SLOT", WEIR_STATE = "WEIR_STATE",
      WEIR_INVALID = "WEIR_INVALID", HMM = "WEIR_PROTOCOL",
    }
    local full = { OOM = "WEIR_SERVER_FULL", MISCONF = "WEIR_NOT_EXECUTED" }
    for text, expected in pairs(wrong) do
      ends_as(expected, text, function()
        return ("-%s for a test\r\n"):format(text)
      end, "?deadline=5s&on_error=allow", 0)
    end
    for text, expected in pairs(full) do
      ends_as(expected, text, function()
        return ("-%s for a test\r\n"):format(text)
      end, nil, 0)
    end
  end)

  it("tells what real servers refuse", function()
    take "refused"
    server:call("CONFIG", "SET", "maxmemory", "1")
    local _, _, code = take "refused"
    assert.equal("WEIR_SERVER_FULL", code)
    server:call("CONFIG", "SET", "maxmemory", "0")
    server:call("REPLICAOF", "127.0.0.1", "1")
    _, _, code = take("refused", "?deadline=100ms")
    assert.equal("WEIR_READONLY", code)
    server:call("REPLICAOF", "NO", "ONE")
    assert.equal(8, assert(take "refused").remaining)
  end)

  it("says what a server is that is none, and waits for one that will be", function()
    local function meets(respond, options)
      between.on_hello = respond
      local row, message, code = take("hello", options)
      between.on_hello = nil
      assert.equal(0, between:standing(), message)
      assert.is_nil(row)
      assert.is_nil(message:find("sesame", 1, true))
      return code
    end
    local function says(text, after)
      return function()
        return text, after
      end
    end
    for _, text in ipairs { "HTTP/1.1 400 Bad Request\r\n", "+PONG\r\n", ":1\r\n", "$x\r\n", "*0\r\n" } do
      assert.equal("WEIR_NOT_REDIS", meets(says(text)))
    end
    assert.equal("WEIR_NOT_REDIS", meets(says "-DENIED sesame\r\n", "?deadline=5s&password=sesame"))
    assert.equal("WEIR_NOT_EXECUTED", meets(says("", "close")))
    assert.equal("WEIR_NOT_EXECUTED", meets(says "", "?deadline=60ms"))
    assert.equal("WEIR_LOADING", meets(says "-LOADING for a test\r\n", "?deadline=100ms"))
    local left = 2
    between.on_hello = function(_, forward)
      left = left - 1
      return left >= 0 and "-LOADING for a test\r\n" or forward()
    end
    assert.equal(9, assert(take "hello").remaining)
    assert.equal(-1, left)
  end)

  it("goes on where it may not give the connection a name", function()
    between.on_hello = function()
      return "-NOPERM for a test\r\n"
    end
    assert.equal(9, assert(take "nameless").remaining)
    assert.equal(1, between:standing())
  end)

  it("of several in one round trip leaves each counted once or not, and tells which", function()
    local many = [[
      local list = {}
      for i = 1, 20 do list[i] = limit.fixed_window("many " .. i) end
      return store:take_many(list)
    ]]
    take "warm"
    local ran = 0
    between.on_call = function(_, forward)
      ran = ran + 1
      return forward(), ran == 10 and "close" or nil
    end
    local rows = ask(many)
    between.on_call = nil
    for i, row in ipairs(rows) do
      local count = used("many " .. i)
      assert.equal(i <= 10 and 1 or 0, count)
      assert.equal("WEIR_INDETERMINATE", row.code)
    end
    -- One that fails by itself leaves the others alone.
    server:call("SET", "weir1:{many 3}:many 3:window:fixed_window", "x")
    server:call("SET", "weir1:{many%203}:many%203:window:fixed_window", "something else")
    rows = ask(many)
    assert.equal("WEIR_STATE", rows[3].code)
    assert.same({ 8, 9 }, { rows[4].remaining, rows[20].remaining })
    assert.is_nil(rows[3].allowed)
  end)

  it("of several, whose reply is not theirs, believes none of them", function()
    local calls, replies = 0, ""
    between.on_call = function(_, forward)
      calls = calls + 1
      local reply = forward()
      replies = replies .. (calls == 2 and reply .. reply or reply)
      return calls == 3 and replies or ""
    end
    local rows = ask [[
      return store:take_many { limit.fixed_window "a", limit.fixed_window "b", limit.fixed_window "c" }
    ]]
    for i = 1, 3 do
      assert.equal("WEIR_PROTOCOL", rows[i].code)
    end
  end)

  it("C075 on a server that stalls says who decided, and is an error unless asked otherwise", function()
    local function ask_all(options)
      return host:run(([[
        local store = open { url = %q }
        local one, message, code = store:take(limit.fixed_window, "bob")
        local all, rows, all_code = store:take_all { limit.fixed_window "bob", limit.concurrency("bob", "id") }
        local many = store:take_many { limit.fixed_window "bob", limit.min_gap "bob" }
        local refund, _, refund_code = store:refund(limit.fixed_window, "bob")
        return { one, code, all, rows, all_code, many, refund, refund_code, store:peek(limit.min_gap, "bob") or false,
          message }
      ]]):format(server.url .. options))
    end
    local down = { WEIR_NOT_EXECUTED = true, WEIR_INDETERMINATE = true }
    server:pause()
    local said = ask_all "?deadline=60ms"
    assert.is_nil(said[1])
    assert.is_true(down[said[2]])
    assert.is_true(down[said[5]])
    assert.is_true(down[said[6][1].code])
    assert.is_nil(said[6][1].allowed)
    assert.is_false(said[9])
    for mode, allow in pairs { deny = false, allow = true } do
      said = ask_all("?deadline=60ms&on_error=" .. mode)
      local source = mode .. "_on_error"
      for _, row in ipairs { said[1], said[3], said[4][1], said[4][2], said[6][1], said[6][2], said[9] } do
        assert.same({ allow, source, allow and 0 or 1000000, 0, 0 },
          { row.allowed, row.source, row.retry_after_us, row.remaining, row.reset_after_us })
        assert.is_true(down[row.code])
        assert.is_string(row.message)
      end
      assert.same({ 10, 1 }, { said[1].limit, said[3].binding })
      assert.is_nil(said[7]) -- what was not given back is not said to be
      assert.is_true(down[said[8]])
    end
    server:resume()
    assert.equal("store", take("eve").source)
  end)

  it("that is under way when the server stalls may have run; one that could not begin has not", function()
    local one = [[ return store:take(limit.fixed_window, "bob") ]]
    local reach = ([[ local store = open { url = %q } ]]):format(server.url .. "?deadline=60ms&name=stall")
    host:run(reach .. one)
    server:pause()
    local _, _, idle = host:run(reach .. one)
    local _, message, new = host:run(reach .. one)
    assert.same({ "WEIR_INDETERMINATE", "WEIR_NOT_EXECUTED" }, { idle, new })
    assert.truthy(message:find("took the connection and did not answer", 1, true))
    server:resume()
  end)

  it("on a server that is away was not counted, and goes on when it is back", function()
    server:stop()
    local _, message, code = host:run(([[ return open { path = %q }:take(limit.fixed_window, "bob") ]])
      :format(server.path))
    assert.equal("WEIR_NOT_EXECUTED", code)
    assert.truthy(message:find("can't be reached", 1, true))
    _, message, code = host:run(([[ return open { port = %d }:take(limit.fixed_window, "bob") ]]):format(server.port))
    assert.equal("WEIR_NOT_EXECUTED", code)
    assert.truthy(message:find("connection refused", 1, true))
    server:start()
    assert.equal(9, assert(take "bob").remaining)
  end)
end)
