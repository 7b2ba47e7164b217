--- Cases of policies and their sandbox: C161 C162 C166 C167 C168 C169 C171.

local support = require "spec.weir.support"
local weir = require "weir"

describe("a policy", function()
  local store

  before_each(function()
    store = weir.memory()
  end)

  -- Decides one empty request by the body of a function of it.
  local function decide(body, request)
    local policy = assert(weir.policy { text = "return function(request) " .. body .. " end" })
    return policy:decide(store, request or {})
  end

  local function refuses(body, pattern, code)
    local outcome, message, was = decide(body)
    assert.is_nil(outcome)
    assert.matches(pattern, message)
    assert.equal(code or "WEIR_POLICY", was)
  end

  it("C161 meets the same bound as function and as method of a string", function()
    refuses([[return ("x"):rep(1e9)]], "policy:1: rep makes at most 65536 bytes")
    refuses([[return string.rep("x", 1e9)]], "policy:1: rep makes at most 65536 bytes")
  end)

  it("C161 can change no library, for itself, another policy or the host", function()
    local rep, format = string.rep, string.format
    refuses([[getmetatable("").__index.rep = error return true]], "getmetatable")
    refuses([[string.format = nil return true]], "the string library can't be changed")
    refuses([[string.rep = function() return "evil" end return true]], "the string library can't be changed")
    assert.is_true(decide([[return ("x"):rep(3) == "xxx" and string.format("%d", 5) == "5"]]).allowed)
    assert.equal(rep, string.rep)
    assert.equal(format, string.format)
    assert.equal("xxx", ("x"):rep(3))
  end)

  it("C162 has no coroutines to escape its budget in", function()
    refuses("coroutine.wrap(function() while true do end end)() return true", "coroutine")
    refuses("while true do end", "policy:1: the policy used more than its 200000 instructions", "WEIR_POLICY_BUDGET")
    refuses("return pcall(function() while true do end end)", "instructions", "WEIR_POLICY_BUDGET")
  end)

  it("C166 that grows too large is stopped, and its next call works", function()
    local policy = assert(weir.policy { text = [[
      return function(request)
        local t = {}
        for i = 1, request.bomb and 1e9 or 1 do
          t[i] = {}
        end
        return true
      end
    ]] })
    for _ = 1, 3 do
      local outcome, message, code = policy:decide(store, { bomb = "yes" })
      assert.is_nil(outcome)
      assert.matches("policy:4: the policy grew larger than its 1048576 bytes", message)
      assert.equal("WEIR_POLICY_BUDGET", code)
      assert.is_true(policy:decide(store, {}).allowed)
    end
    refuses("return ('x'):rep(2 ^ 30)", "rep makes at most")
    refuses("local t = {} for i = 1, 1e5 do t[i] = 'abcdefgh' end return table.concat(t, ('x'):rep(6e4))", "policy",
      "WEIR_POLICY_BUDGET")
  end)

  it("C167 is source, never bytecode, and can load none", function()
    for _, text in ipairs { string.dump(function() end), "\27Lua", "\27LJ\2" } do
      local policy, message, code = weir.policy { text = text }
      assert.is_nil(policy)
      assert.matches("compiled code; it must be Lua source", message)
      assert.equal("WEIR_POLICY", code)
    end
    local path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write(string.dump(function() end))
    file:close()
    local policy, message = weir.policy { path = path }
    os.remove(path)
    assert.is_nil(policy)
    assert.matches("compiled code; it must be Lua source", message)
    refuses([[return load("\27Lua")]], "load")
  end)

  it("C168 has of this Lua's functions those of a pinned list, and no others", function()
    local pinned = {}
    for word in ([[
      _VERSION assert error ipairs
      math.abs math.ceil math.floor math.fmod math.huge math.max math.maxinteger math.min math.mininteger math.modf
      math.pi math.sqrt math.tointeger math.type math.ult
      next pairs pcall rawequal rawget rawlen require select setmetatable
      string.byte string.char string.find string.format string.gsub string.len string.lower string.match string.rep
      string.reverse string.sub string.upper
      table.concat table.insert table.remove
      tonumber tostring type
    ]]):gmatch("%S+") do
      pinned[#pinned + 1] = word
    end
    local names = { "loadstring", "getfenv", "setfenv", "unpack", "table.getn", "bit", "jit", "ffi" }
    for name, value in pairs(_G) do
      names[#names + 1] = package.loaded[name] == nil and tostring(name) or nil
      if package.loaded[name] == value and type(value) == "table" and name ~= "_G" then
        for field in pairs(value) do
          names[#names + 1] = name .. "." .. tostring(field)
        end
      end
    end
    local present = {}
    for _, name in ipairs(names) do
      local head = name:match("^[%a_][%w_]*")
      if name:find("^[%a_][%w_.]*$") and decide("return (" .. head .. " and " .. name .. ") ~= nil").allowed then
        present[#present + 1] = name
      end
    end
    table.sort(present)
    assert.same(pinned, present)
  end)

  it("C169 keeps no global from one request to the next, nor for another policy", function()
    refuses("x = (x or 0) + 1 return true", "the globals can't be changed: 'x'")
    assert.is_true(decide("return x == nil").allowed)
  end)

  it("C171 knows no time but the request's, so the same request is decided alike everywhere", function()
    local policy = assert(weir.policy { text = [[
      local weir = require "weir"
      local day = weir.fixed_window { name = "day", limit = 5, window = "1h" }
      local night = weir.fixed_window { name = "night", limit = 1, window = "1h" }
      return function(request)
        local hour = request.time // 3600000000 % 24
        return (hour < 6 and night or day)(request.user)
      end
    ]] })
    for _ = 1, 3 do
      local fresh = weir.memory()
      local names = {}
      for i, hour in ipairs { 0, 5, 6, 23 } do
        local outcome = assert(policy:decide(fresh, { user = "bob", time = support.at(hour * 3600000) }))
        names[i] = outcome.rows[1].name
      end
      assert.same({ "night", "night", "day", "day" }, names)
    end
  end)
end)
