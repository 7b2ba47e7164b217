--- What a policy in nginx can't do to its worker, and what its host is told that gives it nonsense.

local nginx = require "openresty.support.nginx"
local show = require "openresty.support.show"
local worker = require "openresty.support.worker"

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

  it("answers wrong options with nil, a sentence and WEIR_INVALID", function()
    for _, wrong in ipairs {
      { "{}", "a policy has either path or text; neither was given" },
      { '{ path = "a", text = "b" }', "a policy has either path or text; both were given" },
      { '{ path = "a", name = "b" }', 'name was "b"; it must be left out, for path names the policy' },
      { '{ text = "", watch = "1s" }', 'watch was "1s"; it must be left out, for it is for path' },
      { "{ text = 5 }", "text was 5; it must be the text of a policy" },
      { '{ path = "a\\0b" }', "it must be text without a NUL" },
      { '{ text = "", memory = "1" }', 'memory was "1"; it must be a size such as "16MiB" (KiB, MiB, GiB) or bytes' },
      { '{ text = "", memory = "0KiB" }', 'memory was "0KiB"; it must be a size' },
      { '{ text = "", field_size = -1 }', "field_size was -1; it must be a size" },
      { '{ text = "", instructions = 0 }', "instructions was 0; it must be a whole number from 1" },
      { '{ text = "", instructions = 1.5 }', "instructions was 1.5; it must be a whole number from 1" },
      { '{ text = "", deadline = 5 }', "deadline was 5; it must be text" },
      { '{ text = "", deadline = "5" }', 'deadline was "5"; it must be a duration' },
      { '{ text = "", deadline = "0s" }', 'deadline was "0s"; it must be at least 1us' },
      { '{ text = "", cut_fields = 1 }', "cut_fields was 1; it must be true or false" },
      { '{ text = "", budget = 1 }', "budget is no option; the options are path, text" },
      { '{ text = "", fields = 1 }', "fields was 1; it must be a table such as" },
      { '{ text = "", fields = { time = "uri" } }', "a name in fields was time; it must be text, and not time" },
      { '{ text = "", fields = { a = "$uri" } }', 'fields.a was "$uri"; it must be the name of a variable of nginx' },
      { '"chat.lua"', 'options was "chat.lua"; it must be a table' },
      { "nil", "options was nil; it must be a table" },
    } do
      local said = worker.run(server, ([==[
        local policy, message, code = weir.open(%s)
        return tostring(policy), code, message:find([[%s]], 1, true) and "as it should" or message
      ]==]):format(wrong[1], wrong[2]))
      assert.equal(show { "nil", "WEIR_INVALID", "as it should" }, said)
    end
  end)

  it("answers arguments that are none with nil, a sentence and WEIR_INVALID", function()
    for _, wrong in ipairs {
      { "policy:decide(nil, {})", "store was nil; it must be a store of resty.weir" },
      { 'policy:decide(store, "bob")', 'request was "bob"; it must be a table of fields' },
      { "policy:decide(store, { user = true })", "request.user was true; it must be text or a number" },
      { "policy:decide(store, { user = {} })", "request.user was table" },
      { 'policy:decide(store, { "bob" })', "a name in request was 1; it must be text without a NUL" },
      { 'policy:decide(store, { ["a\\0b"] = "x" })', "a name in request was" },
      { "policy:decide(store, { time = 1.5 })", "request.time was 1.5; it must be a whole number from 1 to 4503" },
      { "policy:decide(store, { time = 0 })", "request.time was 0" },
      { 'policy:decide(store, { time = "5" })', 'request.time was "5"' },
      { "policy:decide(store, { time = 2 ^ 53 })", "request.time was" },
      { "policy:respond(store, {}, {}, 1)", "allowed was 1; it must be true or false" },
      { "policy:respond(store, {}, {})", "allowed was nil; it must be true or false" },
      { "policy:respond(store, {}, 5, true)", "response was 5; it must be a table of fields" },
      { "policy:respond(5, {}, {}, true)", "store was 5" },
      { "policy:reload(5)", "text was 5; it must be the text of a policy" },
      { "policy:reload()", "text was nil; it must be the text of a policy" },
    } do
      local said = worker.run(server, ([==[
        local policy = assert(weir.open { text = "return { request = function() return true end, response = error }" })
        local store = memory()
        local answer, message, code = %s
        return tostring(answer), code, message:find([[%s]], 1, true) and "as it should" or message
      ]==]):format(wrong[1], wrong[2]))
      assert.equal(show { "nil", "WEIR_INVALID", "as it should" }, said)
    end
  end)

  it("answers a policy that can't be opened with nil, file, line and reason", function()
    local said = worker.run(server, [==[
      local out = {}
      for i, options in ipairs {
        { text = "return function(", name = "chat" }, { path = "/nowhere/chat.lua" }, { path = "/tmp" },
        { text = "\27Lua" }, { text = ("x"):rep(70000) },
      } do
        local policy, message, code = weir.open(options)
        out[i] = tostring(policy) .. " " .. code .. " " .. message
      end
      return table.concat(out, "\n")
    ]==])
    for _, pattern in ipairs {
      "nil WEIR_POLICY chat:1: ", "nil WEIR_IO /nowhere/chat.lua: No such file", "nil WEIR_IO /tmp: Is a directory",
      "nil WEIR_POLICY policy: the policy is compiled code", "nil WEIR_POLICY policy: the policy has 70000 bytes",
    } do
      assert.matches(pattern, said, 1, true)
    end
  end)

  it("takes its bounds as options", function()
    returns({ "WEIR_POLICY_BUDGET", true, "WEIR_POLICY_BUDGET", "WEIR_POLICY_BUDGET", "WEIR_POLICY", true }, [==[
      local loop = "return function(request) for i = 1, request.count do end return true end"
      local grow = "return function() local t = {} for i = 1, 3000 do t[i] = i end return true end"
      local reads = "return function(request) return #request.body == 10 end"
      local store, body = memory(), { body = ("x"):rep(20) }
      local function decide(request, options)
        local outcome, _, code = assert(weir.open(options)):decide(store, request)
        return outcome and outcome.allowed or code
      end
      return decide({ count = 100000 }, { text = loop, instructions = 5000 }),
        decide({ count = 100000 }, { text = loop, instructions = 10000000, deadline = "5s" }),
        decide({ count = 1e12 }, { text = loop, instructions = 1e15, deadline = "1ms" }),
        decide({}, { text = grow, memory = "96KiB" }),
        decide(body, { text = reads, field_size = 10 }),
        decide(body, { text = reads, field_size = 10, cut_fields = true })
    ]==])
  end)

  it("takes no harm from any attack, while it loads or at a request", function()
    local before = table.concat(server:workers(), " ")
    local said = worker.run(server, ([==[
      local store = memory()
      local good = "return function() return true end"
      local policy = assert(weir.open { text = good })
      local count = 0
      for path in io.popen("ls %s/spec/attacks/*.lua"):lines() do
        local text = io.open(path):read "*a"
        local done, message, code = policy:reload(text)
        assert(done == nil and code:find "^WEIR_POLICY" and message ~= "", path)
        assert(policy:decide(store, {}).allowed, path)
        local inside = "return function(request) if request.user == 'evil' then\n" .. text .. "\nend return true end"
        if policy:reload(inside) then
          local _, _, failed = policy:decide(store, { user = "evil" })
          assert(failed == nil or failed:find "^WEIR_POLICY", path)
        end
        assert(policy:decide(store, { user = "bob" }).allowed, path)
        assert(policy:reload(good))
        count = count + 1
      end
      return count
    ]==]):format(worker.shell "pwd"))
    assert.is_true(tonumber(said:match "1 = (%d+)") >= 48)
    assert.equal(before, table.concat(server:workers(), " "))
  end)

  it("uses no more memory after a hundred thousand decisions", function()
    local said = worker.run(server, [==[
      local store = memory()
      local elsewhere = setmetatable({}, { __index = function(_, verb)
        return function(_, ...) return store[verb](store, ...) end
      end })
      local policy = assert(weir.open { text = [[
        local weir = require "weir"
        local a = weir.token_bucket { name = "a", rate = "1000000/s" }
        local b = weir.fixed_window { name = "b", limit = 5, window = "1h", shadow = true }
        return { request = function(request) return a(request.n or request.path), b(request.address) end,
          response = function(request) a:refund(request.n) end }
      ]] })
      local function resident()
        collectgarbage()
        collectgarbage()
        local kib
        for line in io.lines "/proc/self/status" do
          kib = line:match "^VmRSS:%s+(%d+)" or kib
        end
        return tonumber(kib), collectgarbage "count"
      end
      local function decide(count)
        for n = 1, count do
          local request = { n = n % 1000, address = "192.0.2." .. n % 100 }
          for _, kept in ipairs { store, elsewhere } do
            assert(policy:decide(kept, request))
            assert(policy:respond(kept, request, {}, true))
          end
        end
      end
      decide(2000)
      local kib, lua_kib = resident()
      decide(30000)
      local grown, lua_grown = resident()
      return grown - kib < 512 and "even" or grown - kib, lua_grown - lua_kib < 64 and "even" or lua_grown - lua_kib
    ]==])
    assert.equal(show { "even", "even" }, said)
  end)
end)
