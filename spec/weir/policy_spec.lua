--- Policies of a program: opening, deciding, responding, reloading, closing.

local support = require "spec.weir.support"
local weir = require "weir"

local at = support.at

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
    return messages(request.user, request.cost or 1), gap(request.user), seen(request.user)
  end
]]

local settling = [[
  local weir = require "weir"
  local tokens = weir.token_bucket { name = "tokens", rate = "100/m" }
  return {
    request = function(request)
      return tokens(request.team, request.estimate)
    end,
    response = function(request, response)
      if not response.allowed then
        return
      end
      local owed = response.used - request.estimate
      if owed < 0 then
        tokens:refund(request.team, -owed)
      else
        tokens:charge(request.team, owed)
      end
    end,
  }
]]

describe("a policy", function()
  local store

  before_each(function()
    store = weir.memory()
  end)

  it("decides a request, with the row of each limit in the order in which it returned them", function()
    local policy = assert(weir.policy { text = two_limits, name = "chat" })
    local first = assert(policy:decide(store, { user = "bob", time = at(0) }))
    assert.is_true(first.allowed)
    assert.is_nil(first.reason)
    assert.same({ 2, 1, 0 }, { first.binding, first.limit, first.remaining })
    local names, keys, shadows = {}, {}, {}
    for i, row in ipairs(first.rows) do
      names[i], keys[i], shadows[i] = row.name, row.key, row.shadow
    end
    assert.same({ "messages", "gap", "seen" }, names)
    assert.same({ "bob", "bob", "bob" }, keys)
    assert.same({ false, false, true }, shadows)

    local second = assert(policy:decide(store, { user = "bob", time = at(100) }))
    assert.equal("D(400)", support.verdicts { second })
    assert.equal(2, second.binding)
    assert.equal("A D(400) D(59900)", support.verdicts(second.rows))
    local third = assert(policy:decide(store, { user = "bob", time = at(600) }))
    assert.is_true(third.allowed)
    assert.is_false(third.rows[3].allowed)
  end)

  it("decides without a limit by its own word", function()
    local policy = assert(weir.policy { text = two_limits })
    assert.same({ allowed = true, rows = {} }, policy:decide(store, { path = "/health" }))
    assert.same({ allowed = false, reason = "who are you?", rows = {} }, policy:decide(store, {}))
  end)

  it("is given text, whole numbers exactly and other numbers as fields, and the store's clock as time", function()
    local policy = assert(weir.policy { text = [[
      local weir = require "weir"
      local any = weir.min_gap { name = "any", gap = "1us" }
      return function(request)
        return any(request.name), any(tostring(request.value) .. math.type(request.value)), any(request.time)
      end
    ]] })
    local clocked = weir.memory {
      clock = function()
        return 1784900000123456
      end,
    }
    local function keys(request)
      local out = {}
      for i, row in ipairs(assert(policy:decide(clocked, request)).rows) do
        out[i] = row.key
      end
      return out
    end
    assert.same({ "a\0b", "9007199254740991integer", "1784900000123456" },
      keys { name = "a\0b", value = 9007199254740991 })
    assert.same({ "x", "1.5float", "5" }, keys { name = "x", value = 1.5, time = 5 })
  end)

  it("is given no field that it could not read as it was", function()
    local policy = assert(weir.policy { text = two_limits })
    for _, wrong in ipairs {
      { { user = true }, "request.user was true; it must be text or a number, or be left out" },
      { { user = {} }, "request.user was a table" },
      { { user = 2 ^ 53 | 1 }, "request.user was 9007199254740993; a number above 2%^53 must be given as text" },
      { { "bob" }, "request has the name 1; a name must be text without a NUL" },
      { { ["a\0b"] = "x" }, 'request has the name the text "a%?b"' },
      { { time = 1.5 }, "request.time was 1.5; it must be a whole number from 1 to 4503599627370496" },
      { { time = 0 }, "request.time was 0" },
      { { time = "5" }, 'request.time was the text "5"' },
      { "bob", "request was the text \"bob\"; it must be a table of fields" },
      { nil, "request was nil; it must be a table of fields" },
    } do
      assert.error_matches(function()
        policy:decide(store, wrong[1])
      end, wrong[2])
    end
    assert.equal(0, store:counters().keys)
  end)

  it("answers nil, file, line and reason, and a code when it is wrong", function()
    local policy, message, code = weir.policy { text = "return function(", name = "chat" }
    assert.is_nil(policy)
    assert.matches("^chat:1: ", message)
    assert.equal("WEIR_POLICY", code)

    policy, message, code = weir.policy { text = [[
      local weir = require "weir"
      local login = weir.token_bucket { name = "login", rate = "ten/s" }
    ]], name = "login" }
    assert.is_nil(policy)
    assert.matches('^login:2: token_bucket: rate was "ten/s"', message)
    assert.equal("WEIR_POLICY", code)

    policy, message, code = weir.policy { path = "/nowhere/chat.lua" }
    assert.is_nil(policy)
    assert.matches("^/nowhere/chat.lua: ", message)
    assert.equal("WEIR_IO", code)

    policy = assert(weir.policy { text = "return function() return nil end" })
    local outcome
    outcome, message, code = policy:decide(store, {})
    assert.is_nil(outcome)
    assert.matches("returned nil", message)
    assert.equal("WEIR_POLICY", code)
  end)

  it("answers nil and the store's code when the store has no room", function()
    local policy = assert(weir.policy { text = [[
      local weir = require "weir"
      local log = weir.sliding_log { name = "log", limit = 3, window = "1m" }
      return function(request) return log(request.user) end
    ]] })
    local outcome, _, code = policy:decide(weir.memory { side = false }, { user = "bob" })
    assert.same({ nil, "WEIR_FULL" }, { outcome, code })
  end)

  it("settles after the response, by what it was told of it", function()
    local policy = assert(weir.policy { text = settling })
    local limit = weir.token_bucket { name = "tokens", rate = "100/m" }
    local request = { team = "a", estimate = 60, time = at(0) }
    assert.is_true(policy:has_response())
    assert.equal(40, policy:decide(store, request).remaining)
    assert.is_true(policy:respond(store, request, { used = 50 }, true))
    assert.equal(50, store:peek(limit, "a", 1, at(0)).remaining)
    assert.is_true(policy:respond(store, request, { used = 80 }, true))
    assert.equal(30, store:peek(limit, "a", 1, at(0)).remaining)
    assert.is_true(policy:respond(store, request, { used = 80 }, false))
    assert.equal(30, store:peek(limit, "a", 1, at(0)).remaining)
    local answered, message, code = policy:respond(store, request, {}, true)
    assert.is_nil(answered)
    assert.matches("policy:%d+: ", message)
    assert.equal("WEIR_POLICY", code)
  end)

  it("needs to be told whether the request was allowed", function()
    local policy = assert(weir.policy { text = settling })
    for _, wrong in ipairs { "yes", 1, {} } do
      assert.error_matches(function()
        policy:respond(store, {}, {}, wrong)
      end, "allowed was ")
    end
    assert.error_matches(function()
      policy:respond(store, {}, nil, true)
    end, "response was nil; it must be a table of fields")
  end)

  it("answers a response that it has no function for with true, and does nothing", function()
    local policy = assert(weir.policy { text = two_limits })
    assert.is_false(policy:has_response())
    assert.is_true(policy:respond(store, {}, {}, true))
  end)

  it("keeps the last good policy when a reload is wrong, and says what was", function()
    local policy = assert(weir.policy { text = two_limits, name = "chat" })
    local done, message, code = policy:reload("return 5")
    assert.is_nil(done)
    assert.matches("^chat: ", message)
    assert.equal("WEIR_POLICY", code)
    assert.is_true(policy:decide(store, { path = "/health" }).allowed)
    assert.is_true(policy:reload("return function() return false end"))
    assert.is_false(policy:decide(store, { path = "/health" }).allowed)
    assert.error_matches(function()
      policy:reload()
    end, "chat: the policy was opened from text")
    assert.error_matches(function()
      policy:reload(5)
    end, "text was 5; it must be the text of a policy")
  end)

  it("is read from its file again", function()
    local path = os.tmpname()
    local function write(text)
      local file = assert(io.open(path, "w"))
      file:write(text)
      file:close()
    end
    write "return function() return true end"
    local policy = assert(weir.policy { path = path })
    assert.is_true(policy:decide(store, {}).allowed)
    write "return function() return false end"
    assert.is_true(policy:decide(store, {}).allowed)
    assert.is_true(policy:reload())
    assert.is_false(policy:decide(store, {}).allowed)
    os.remove(path)
    local done, _, code = policy:reload()
    assert.same({ nil, "WEIR_IO" }, { done, code })
    assert.is_false(policy:decide(store, {}).allowed)
  end)

  it("lists its limits", function()
    local policy = assert(weir.policy { text = two_limits })
    assert.same({
      { name = "messages", algorithm = "fixed_window", limit = 3, shadow = false },
      { name = "gap", algorithm = "min_gap", limit = 1, shadow = false },
      { name = "seen", algorithm = "fixed_window", limit = 1, shadow = true },
    }, policy:limits())
  end)

  it("takes its bounds as options", function()
    local loop = "return function(request) for i = 1, request.count do end return true end"
    local small = assert(weir.policy { text = loop, instructions = 5000 })
    assert.equal("WEIR_POLICY_BUDGET", select(3, small:decide(store, { count = 100000 })))
    local large = assert(weir.policy { text = loop, instructions = 10000000, deadline = "5s" })
    assert.is_true(large:decide(store, { count = 100000 }).allowed)
    local short = assert(weir.policy { text = loop, instructions = 1e15, deadline = "1ms" })
    assert.equal("WEIR_POLICY_BUDGET", select(3, short:decide(store, { count = 1e12 })))

    local reads = "return function(request) return #request.body == 10 end"
    local body = string.rep("x", 20)
    local strict = assert(weir.policy { text = reads, field_size = 10 })
    assert.matches("field 'body' has 20 bytes; a policy may read 10", select(2, strict:decide(store, { body = body })))
    local cutting = assert(weir.policy { text = reads, field_size = 10, cut_fields = true })
    assert.is_true(cutting:decide(store, { body = body }).allowed)
  end)

  it("refuses options that are none, or not of their kind", function()
    for _, wrong in ipairs {
      { {}, "a policy has either path or text; neither was given" },
      { { path = "a", text = "b" }, "a policy has either path or text; both were given" },
      { { path = "a", name = "b" }, "name was b; it is for text, for path names the policy" },
      { { text = 5 }, "text was 5" },
      { { path = "a\0b" }, "path was the text \"a%?b\"; it must be text without a NUL" },
      { { text = "", memory = "1" }, "memory was the text \"1\"" },
      { { text = "", instructions = 0 }, "instructions was 0; it must be a whole number from 1" },
      { { text = "", deadline = 5 }, "deadline was 5; it must be text" },
      { { text = "", deadline = "5" }, "deadline was \"5\"; it must be a duration" },
      { { text = "", deadline = "0s" }, "deadline was the text \"0s\"; it must be at least 1us" },
      { { text = "", cut_fields = 1 }, "cut_fields was 1; it must be true or false" },
      { { text = "", budget = 1 }, "the text \"budget\" is no option; the options are path, text" },
      { "chat.lua", "options was the text \"chat.lua\"; it must be a table" },
    } do
      assert.error_matches(function()
        weir.policy(wrong[1])
      end, wrong[2])
    end
  end)

  it("can be closed twice, and answers each later call with an error", function()
    local policy = assert(weir.policy { text = two_limits })
    policy:close()
    policy:close()
    for _, method in ipairs { "decide", "respond", "reload", "limits", "has_response" } do
      assert.error_matches(function()
        policy[method](policy, store, {}, {}, true)
      end, "the policy is closed")
    end
    local open = assert(weir.policy { text = two_limits })
    store:close()
    assert.error_matches(function()
      open:decide(store, { user = "bob" })
    end, "the store is closed")
  end)

  it("is out of reach of a finalizer while its answer is made", function()
    local policy = assert(weir.policy { text = two_limits })
    local tried, trouble = 0, 0
    local function litter()
      setmetatable({}, {
        __gc = function()
          tried = tried + 1
          local ok = pcall(policy.decide, policy, store, { user = "finalizer" })
          trouble = trouble + (ok and 0 or 1)
        end,
      })
    end
    collectgarbage("generational")
    for i = 1, 20000 do
      litter()
      local outcome = assert(policy:decide(store, { user = "user " .. i, time = at(0) }))
      assert(outcome.rows[3].key == "user " .. i)
    end
    collectgarbage("incremental")
    assert.is_true(tried > 1000)
    assert.is_true(trouble > 0 and trouble < tried)
  end)
end)
