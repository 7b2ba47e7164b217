--- Policies in nginx: Lua 5.4 beside LuaJIT, with a store of libweir and with one that yields. Cases C169 C171 C182
--- C183 C186.

local five_policies = require "openresty.support.five_policies"
local nginx = require "openresty.support.nginx"
local show = require "openresty.support.show"
local worker = require "openresty.support.worker"
local weir = require "weir"

local two_limits = [==[
  local two_limits = [[
    local weir = require "weir"
    local messages = weir.fixed_window { name = "messages", limit = 3, window = "1m" }
    local gap = weir.min_gap { name = "gap", gap = "500ms" }
    local seen = weir.fixed_window { name = "seen", limit = 1, window = "1m", shadow = true }
    return function(request)
      if request.path == "/health" then
        return true
      end
      if not request.user then
        return weir.deny("who are you?")
      end
      return messages(request.user, request.cost or 1), seen(request.user), gap(request.user)
    end
  ]]
]==]

local settling = [==[
  local settling = [[
    local weir = require "weir"
    local tokens = weir.token_bucket { name = "tokens", rate = "100/m" }
    local places = weir.concurrency { name = "places", limit = 1, ttl = "1h" }
    return {
      request = function(request)
        return tokens(request.team, request.estimate), places("all", request.team)
      end,
      response = function(request, response)
        if response.allowed then
          places:release("all", request.team)
          local owed = response.used - request.estimate
          tokens[owed < 0 and "refund" or "charge"](tokens, request.team, math.abs(owed))
        end
      end,
    }
  ]]
]==]

describe("a policy in nginx", function()
  local server

  setup(function()
    server = nginx.start { server = worker.location }
  end)

  teardown(function()
    server:stop()
  end)

  local function returns(expected, code)
    assert.equal(show(expected), worker.run(server, code))
  end

  it("runs on a Lua 5.4 of its own beside LuaJIT", function()
    returns({ "LuaJIT", "Lua 5.1", true }, [==[
      local policy = assert(weir.open { text = [[
        return function(request)
          return _VERSION == "Lua 5.4" and math.type(request.seven // 2) == "integer" and 7 // 2 == 3
        end
      ]] })
      return jit.version:match "^%a+", _VERSION, policy:decide(memory(), { seven = 7 }).allowed
    ]==])
  end)

  it("is refused with a sentence where its library was loaded plainly before", function()
    local late = nginx.start {
      http = [[
        init_by_lua_block {
          package.loaded.plain = require "ffi".load(package.searchpath("libweir_policy", package.cpath))
        }
      ]],
      server = worker.location,
    }
    local said = worker.run(late, [[
      local policy, message, code = weir.open { text = "return function() return true end" }
      return policy, message, code
    ]])
    late:stop()
    assert.matches("the Lua in this process is not Lua 5.4, so no policy can run", said)
    assert.matches("WEIR_POLICY", said)
  end)

  it("is refused with a sentence where its library is not there", function()
    local bare = nginx.start { server = worker.location }
    local said = worker.run(bare, [[
      require "resty.weir.core"
      package.cpath = "/nowhere/?.so"
      local policy, message, code = weir.open { text = "return function() return true end" }
      return policy, message, code
    ]])
    bare:stop()
    assert.matches('{ 2 = "libweir_policy.so.0: cannot open shared object file[^"]+", 3 = "WEIR_IO" }', said)
  end)

  it("decides what the same policy decides in a program, to the microsecond", function()
    local root = worker.shell "pwd"
    local expected = five_policies(weir.policy, weir.memory(), root)
    for _, store in ipairs { "memory()", "yielding(memory())" } do
      local said = worker.run(server, ([[
        return require "openresty.support.five_policies" (weir.open, %s, "%s")
      ]]):format(store, root))
      assert.equal(show { expected }, said)
    end
    assert.is_true(#expected > 10000)
  end)

  for _, store in ipairs { "memory()", "yielding(memory())" } do
    describe("with " .. store, function()
      it("answers the joint row and the row of each limit, those in shadow too", function()
        returns({
          true, 3, { "messages", "seen", "gap" }, { "bob", "bob", "bob" }, { false, true, false },
          false, 400000, 3, { true, false, false },
        }, two_limits .. ([==[
          local store = %s
          local policy = assert(weir.open { text = two_limits })
          local function each(rows, name)
            local out = {}
            for i, row in ipairs(rows) do
              out[i] = row[name]
            end
            return out
          end
          local first = assert(policy:decide(store, { user = "bob", time = at(0) }))
          local second = assert(policy:decide(store, { user = "bob", time = at(100) }))
          return first.allowed, first.binding, each(first.rows, "name"), each(first.rows, "key"),
            each(first.rows, "shadow"), second.allowed, second.retry_after_us, second.binding,
            each(second.rows, "allowed")
        ]==]):format(store))
      end)

      it("counts a check in shadow only when the others have passed", function()
        returns({ 1, 1, 0 }, ([==[
          local store = %s
          local policy = assert(weir.open { text = [[
            local weir = require "weir"
            local one = weir.fixed_window { name = "one", limit = 1, window = "1h" }
            local all = weir.fixed_window { name = "all", limit = 2, window = "1h", shadow = true }
            return function(request) return one(request.user), all "all" end
          ]] })
          local out = {}
          for i, user in ipairs { "bob", "bob", "eve" } do
            out[i] = policy:decide(store, { user = user, time = at(0) }).rows[2].remaining
          end
          return unpack(out)
        ]==]):format(store))
      end)

      it("lets a check in shadow that the store can't answer fail by itself", function()
        local said = worker.run(server, ([==[
          local store = %s
          local policy = assert(weir.open { text = [[
            local weir = require "weir"
            local one = weir.fixed_window { name = "one", limit = 1, window = "1h" }
            local log = weir.sliding_log { name = "log", limit = 2, window = "1h", shadow = true }
            return function(request) return log(request.user), one(request.user) end
          ]] })
          local first = assert(policy:decide(store, { user = "bob" }))
          local second = assert(policy:decide(store, { user = "bob" }))
          return first.allowed, first.binding, first.rows[1], second.allowed, second.rows[1].name
        ]==]):format(store:gsub("memory%(%)", "memory(true)")))
        assert.matches('^{ 1 = true, 2 = 2, 3 = { code = "WEIR_FULL", key = "bob", message = "[^"]+", name = "log", '
          .. 'shadow = true }, 4 = false', said)
      end)

      it("decides without a limit by the policy's own word", function()
        local denied = { allowed = false, reason = "who are you?", rows = {}, limits = {} }
        returns({ { allowed = true, rows = {}, limits = {} }, denied },
          two_limits .. ([==[
            local policy = assert(weir.open { text = two_limits })
            local store = %s
            return policy:decide(store, { path = "/health" }), policy:decide(store, {})
          ]==]):format(store))
      end)

      it("settles after the response", function()
        returns({ 40, true, 50, 20, true, -10, true, true }, settling .. ([==[
          local store = %s
          local policy = assert(weir.open { text = settling })
          local limit = require "resty.weir.limit".token_bucket { name = "tokens", rate = "100/m" }
          local request = { team = "a", estimate = 60, time = at(0) }
          local function level()
            return store:peek(limit, "a", 1, at(0)).remaining
          end
          local first = policy:decide(store, request).rows[1].remaining
          local refunded = policy:respond(store, request, { used = 50 }, true)
          local second = level()
          request.estimate = 30
          assert(policy:decide(store, request).allowed)
          local third = level()
          local charged = policy:respond(store, request, { used = 60 }, true)
          local debt = store:peek(limit, "a", 1, at(0)).reset_after_us / 600000 - 100
          local refused = policy:respond(store, request, { used = 80 }, false)
          return first, refunded, second, third, charged, -debt, refused, policy:has_response()
        ]==]):format(store))
      end)

      it("holds and releases a place for the id that the policy gave", function()
        returns({ true, false, true, true, false, true }, ([==[
          local store = %s
          local policy = assert(weir.open { text = [[
            local weir = require "weir"
            local door = weir.concurrency { name = "door", limit = 1, ttl = "1h" }
            return {
              request = function(request) return door("all", request.user) end,
              response = function(request) door:release("all", request.user) end,
            }
          ]] })
          local function decide(user)
            return policy:decide(store, { user = user, time = at(0) }).allowed
          end
          local function respond(user)
            return policy:respond(store, { user = user, time = at(0) }, {}, true)
          end
          return decide "bob", decide "eve", decide "bob", respond "eve", decide "eve", respond "bob" and decide "eve"
        ]==]):format(store))
      end)

      it("does what else a response asked for when one of it fails, and answers the first failure", function()
        returns({ "nil", "WEIR_FULL", 3 }, ([==[
          local store = %s
          local policy = assert(weir.open { text = [[
            local weir = require "weir"
            local log = weir.sliding_log { name = "log", limit = 2, window = "1h" }
            local one = weir.fixed_window { name = "one", limit = 5, window = "1h" }
            return {
              request = function() return true end,
              response = function() log:charge("bob", 1) one:charge("bob", 2) end,
            }
          ]] })
          local limit = require "resty.weir.limit".fixed_window { name = "one", limit = 5, window = "1h" }
          local done, message, code = policy:respond(store, { time = at(0) }, {}, true)
          return tostring(done), code, store:peek(limit, "bob", 1, at(0)).remaining
        ]==]):format(store:gsub("memory%(%)", "memory(true)")))
      end)

      it("answers nil, message and code for a policy that is wrong or out of bounds, and serves the next", function()
        local said = worker.run(server, ([==[
          local store = %s
          local policy = assert(weir.open { name = "bad", text = [[
            return function(request)
              if request.do_it == "loop" then
                while true do end
              elseif request.do_it == "grow" then
                local t = {}
                for i = 1, 1e9 do t[i] = {} end
              elseif request.do_it == "raise" then
                error("no\27[31m")
              elseif request.do_it == "nothing" then
                return
              end
              return true
            end
          ]] })
          local out = {}
          for _, what in ipairs { "loop", "grow", "raise", "nothing" } do
            local outcome, message, code = policy:decide(store, { do_it = what })
            out[#out + 1] = { tostring(outcome), message, code, policy:decide(store, {}).allowed }
          end
          return unpack(out)
        ]==]):format(store))
        for _, pattern in ipairs {
          'bad:3: the policy used more than its 200000 instructions", 3 = "WEIR_POLICY_BUDGET", 4 = true',
          'bad:6: the policy grew larger than its 1048576 bytes", 3 = "WEIR_POLICY_BUDGET", 4 = true',
          'bad:8: no%?%[31m", 3 = "WEIR_POLICY", 4 = true',
          'the policy returned nothing; [^"]+", 3 = "WEIR_POLICY", 4 = true',
        } do
          assert.matches(pattern, said)
        end
      end)

      it("answers what the store could not", function()
        returns({ "nil", "WEIR_FULL" }, ([==[
          local policy = assert(weir.open { text = [[
            local weir = require "weir"
            local log = weir.sliding_log { name = "log", limit = 3, window = "1m" }
            return function(request) return log(request.user) end
          ]] })
          local outcome, _, code = policy:decide(%s, { user = "bob" })
          return tostring(outcome), code
        ]==]):format(store:gsub("memory%(%)", "memory(true)")))
      end)

      it("C182 refills nothing and forgets nothing by a reload", function()
        returns({ { true, true, true, true, true }, { 59, 58, 57, 56, 55, 54, 53, 52, 51, 50 } }, ([==[
          local text = [[
            local weir = require "weir"
            local calls = weir.token_bucket { name = "calls", rate = "1/m", burst = 5 }
            return function(request) return calls(request.user) end
          ]]
          local store = %s
          local policy = assert(weir.open { text = text })
          local passed, waits = {}, {}
          for i = 1, 5 do
            passed[i] = policy:decide(store, { user = "bob", time = at(0) }).allowed
          end
          for i = 1, 10 do
            assert(policy:reload(text .. "-- " .. i))
            waits[i] = policy:decide(store, { user = "bob", time = at(i * 1000) }).retry_after_us / 1e6
          end
          return passed, waits
        ]==]):format(store))
      end)

      it("C183 takes a reload at the next call of every key", function()
        returns({ { true, 5, 0 }, { true, 5, 0 }, { false, 3, 0 }, { false, 3, 0 } }, ([==[
          local function text(limit)
            return ([[
              local weir = require "weir"
              local calls = weir.fixed_window { name = "calls", window = "1h", limit = %%d }
              return function(request) return calls(request.user) end
            ]]):format(limit)
          end
          local store = %s
          local policy = assert(weir.open { text = text(10) })
          local rows = {}
          local function decide(user)
            local row = assert(policy:decide(store, { user = user, time = at(0) }))
            return { row.allowed, row.limit, row.remaining }
          end
          for i = 1, 4 do
            decide "bob"
            decide "eve"
          end
          assert(policy:reload(text(5)))
          rows[1], rows[2] = decide "bob", decide "eve"
          assert(policy:reload(text(3)))
          rows[3], rows[4] = decide "bob", decide "eve"
          return unpack(rows)
        ]==]):format(store))
      end)

      it("C186 keeps its limit before, during and after a reload with a hundred requests in flight", function()
        returns({ 50, 100, 50, 50, 50 }, ([==[
          local text = [[
            local weir = require "weir"
            local calls = weir.fixed_window { name = "calls", window = "1h", limit = 50 }
            local each = weir.fixed_window { name = "each", window = "1h", limit = 1, shadow = true }
            return function(request) return calls "all", each(request.n) end
          ]]
          local store = %s
          local policy = assert(weir.open { text = text })
          local before = policy:limits()[1].limit
          local passed, done, wrong, threads = 0, 0, 0, {}
          for n = 1, 100 do
            threads[n] = ngx.thread.spawn(function()
              local outcome = assert(policy:decide(store, { n = n, time = at(0) }))
              passed, done = passed + (outcome.allowed and 1 or 0), done + 1
              wrong = wrong + (outcome.rows[2].key == tostring(n) and outcome.rows[1].limit == 50 and 0 or 1)
            end)
            if n %% 5 == 0 then
              assert(policy:reload(text .. "-- " .. n))
            end
          end
          local during = policy:limits()[1].limit
          for _, thread in ipairs(threads) do
            assert(ngx.thread.wait(thread))
          end
          assert(wrong == 0)
          return before, done, passed, during, policy:limits()[1].limit
        ]==]):format(store))
      end)
    end)
  end

  it("keeps requests apart that wait for a store at the same time", function()
    returns({ 30, "ok" }, [==[
      local store = yielding(memory())
      local policy = assert(weir.open { text = [[
        local weir = require "weir"
        local a = weir.fixed_window { name = "a", window = "1h", limit = 9 }
        local b = weir.fixed_window { name = "b", window = "1h", limit = 9, shadow = true }
        return {
          request = function(request)
            if request.odd then
              return a(request.n, request.n % 9)
            end
            return a(request.n, request.n % 9), b(request.n .. " too")
          end,
          response = function(request) a:refund(request.n, request.n % 9) end,
        }
      ]] })
      local limit = require "resty.weir.limit".fixed_window { name = "a", window = "1h", limit = 9 }
      local count, threads = 0, {}
      for n = 1, 30 do
        threads[n] = ngx.thread.spawn(function()
          local request = { n = n, odd = n % 2 == 1 and "yes" or nil, time = at(0) }
          local outcome = assert(policy:decide(store, request))
          assert(#outcome.rows == 2 - n % 2 and outcome.rows[1].key == tostring(n))
          assert(outcome.rows[1].remaining == 9 - n % 9)
          assert(n % 2 == 1 or outcome.rows[2].key == n .. " too")
          assert(policy:respond(store, request, {}, true))
          assert(store:peek(limit, n, 1, at(0)).remaining == 9)
          count = count + 1
        end)
      end
      for _, thread in ipairs(threads) do
        assert(ngx.thread.wait(thread))
      end
      return count, "ok"
    ]==])
  end)

  it("may peek at a store of libweir, and not at one that it would have to wait for", function()
    returns({ true, "nil", "policy:4: limit 'w': peek needs a store in this process, and there is none" }, [==[
      local policy = assert(weir.open { text = [[
        local weir = require "weir"
        local w = weir.fixed_window { name = "w", window = "1h", limit = 9 }
        return function(request)
          return w:peek "bob".remaining == 9
        end
      ]] })
      local outcome, message = policy:decide(yielding(memory()), {})
      return policy:decide(memory(), {}).allowed, tostring(outcome), message
    ]==])
  end)

  it("tells the policy the time of the request, of the store, or of this host", function()
    returns({ { "5", "5" }, true, true }, [==[
      local policy = assert(weir.open { text = [[
        local weir = require "weir"
        local w = weir.fixed_window { name = "w", window = "1s", limit = 9 }
        return function(request) return w(request.time) end
      ]] })
      local function key(store, time)
        return policy:decide(store, { time = time }).rows[1].key
      end
      local here, elsewhere = memory(), yielding(memory())
      ngx.update_time()
      local now = ngx.time() * 1e6
      local function is_near(text)
        return math.abs(tonumber(text) - now) < 60e6
      end
      return { key(here, 5), key(elsewhere, 5) }, is_near(key(here)), is_near(key(elsewhere))
    ]==])
  end)

  it("C169 keeps no global from one request to the next, nor for another policy", function()
    returns({ "nil", "WEIR_POLICY", true }, [==[
      local store = memory()
      local writes = assert(weir.open { text = "return function() x = (x or 0) + 1 return true end" })
      local reads = assert(weir.open { text = "return function() return x == nil end" })
      local outcome, _, code = writes:decide(store, {})
      return tostring(outcome), code, reads:decide(store, {}).allowed
    ]==])
  end)

  it("C171 knows no time but the request's", function()
    returns({ "night", "night", "day", "day" }, [==[
      local policy = assert(weir.open { text = [[
        local weir = require "weir"
        local day = weir.fixed_window { name = "day", limit = 5, window = "1h" }
        local night = weir.fixed_window { name = "night", limit = 1, window = "1h" }
        return function(request)
          local hour = request.time // 3600000000 % 24
          return (hour < 6 and night or day)(request.user)
        end
      ]] })
      local names = {}
      for i, hour in ipairs { 0, 5, 6, 23 } do
        names[i] = policy:decide(memory(), { user = "bob", time = at(hour * 3600000) }).rows[1].name
      end
      return unpack(names)
    ]==])
  end)

  it("lists its limits, and can be closed twice", function()
    returns({
      {
        { name = "messages", algorithm = "fixed_window", limit = 3, shadow = false },
        { name = "gap", algorithm = "min_gap", limit = 1, shadow = false },
        { name = "seen", algorithm = "fixed_window", limit = 1, shadow = true },
      },
      false, { "decide: the policy is closed", "respond: the policy is closed", "reload: the policy is closed",
        "limits: the policy is closed", "has_response: the policy is closed" },
    }, two_limits .. [==[
      local policy = assert(weir.open { text = two_limits })
      local limits, has_response = policy:limits(), policy:has_response()
      policy:close()
      policy:close()
      local said = {}
      for i, verb in ipairs { "decide", "respond", "reload", "limits", "has_response" } do
        local answer, message = policy[verb](policy, memory(), {}, {}, true)
        said[i] = answer == nil and verb .. ": " .. message
      end
      return limits, has_response, said
    ]==])
  end)
end)
