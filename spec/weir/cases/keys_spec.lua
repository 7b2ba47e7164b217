--- Cases of keys: C069 C094 C095 C096 C098 C101.

local support = require "spec.weir.support"
local weir = require "weir"

local function once(name)
  return weir.fixed_window { name = name, limit = 1, window = "1m" }
end

support.on_each_store("a key", function(on, store)
  local function first_passes_second_does_not(limit, keys)
    for _, key in ipairs(keys) do
      assert.equal("A", on(limit, key):takes { 0 })
    end
    for _, key in ipairs(keys) do
      assert.equal("D(60000)", on(limit, key):takes { 0 })
    end
  end

  it("C069 is any bytes, also NUL, a line's end and a percent sign", function()
    first_passes_second_does_not(once "C069",
      { "a b%s\r\n\0z", "a b%s\r\n\0y", "a b%s\r\n", "a b%s\r\n\0", "\0", "\0\0", "\255\254" })
  end)

  it("C094 never runs into the name of its limit, nor into an id", function()
    assert.equal("A", on(once "a:b", "c"):takes { 0 })
    assert.equal("A", on(once "a", "b:c"):takes { 0 })
    assert.equal("A", on(once "ab", "c"):takes { 0 })
    assert.equal("A", on(once "a", "bc"):takes { 0 })
    assert.equal("A", on(once "ip", "127.0.0.1"):takes { 0 })
    assert.equal("A", on(once "user", "127.0.0.1"):takes { 0 })
    local held = weir.concurrency { name = "C094", limit = 1, ttl = "1m" }
    assert.is_true(on(held, "a"):acquire(0, "bc").allowed)
    assert.is_true(on(held, "ab"):acquire(0, "c").allowed)
    assert.is_false(on(held, "a"):acquire(0, "c").allowed)
  end)

  it("C094 is another key under another algorithm of the same name", function()
    assert.equal("A", on(weir.fixed_window { name = "C094", limit = 1, window = "1m" }):takes { 0 })
    assert.equal("A", on(weir.sliding_log { name = "C094", limit = 1, window = "1m" }):takes { 0 })
  end)

  it("C096 may be long, and counts to its last byte", function()
    local long = string.rep("x", 1000)
    local mebibyte = string.rep("y", 1048576)
    first_passes_second_does_not(once "C096", { long .. "a", long .. "b", mebibyte, mebibyte .. "y" })
  end)

  it("C098 is taken byte for byte", function()
    first_passes_second_does_not(once "C098", { "Nick@Example.com ", "nick@example.com" })
  end)

  it("C101 that is empty is refused, never skipped and never shared", function()
    local limit = once "C101"
    for _, verb in ipairs { "take", "peek", "refund", "charge", "reset" } do
      assert.error_matches(function()
        store()[verb](store(), limit, "")
      end, "key was empty; it must have at least one byte")
    end
    assert.error_matches(function()
      limit("")
    end, "key was empty; it must have at least one byte")
  end)

  it("is the same as text or as a whole number, and no other number", function()
    local limit = once "number"
    assert.equal("A", on(limit, 42):takes { 0 })
    assert.equal("D(60000)", on(limit, "42"):takes { 0 })
    assert.equal("D(60000)", on(limit, 42.0):takes { 0 })
    for _, key in ipairs { 1.5, 0 / 0, 1 / 0, 2.0 ^ 63 } do
      assert.error_matches(function()
        store():take(limit, key)
      end, "key was .*; it must be text or a whole number")
    end
  end)
end)

describe("an address", function()
  it("C095 is one key for one network, however it is spelled", function()
    local first = weir.address("2001:db8::1", 64)
    assert.equal("2001:db8::/64", first)
    assert.equal(first, weir.address("2001:0DB8:0:0::1", 64))
    assert.equal(first, weir.address("2001:db8:0:0:ffff::9", 64))
    assert.equal("2001:db8:0:1::/64", weir.address("2001:db8:0:1::1", 64))
    assert.equal("192.0.2.1", weir.address("192.0.2.1"))
    assert.equal("192.0.2.1", weir.address("::ffff:192.0.2.1"))
    assert.equal(weir.address("fe80::1"), weir.address("fe80::1%eth0"))
  end)

  it("C095 that is none is refused, not put into a key that all share", function()
    for _, text in ipairs { "[::1]:443", "1.2.3.4.5", "1.2.3", "::1::", "unknown", "", "1.2.3.4:80", "::1\0" } do
      local network, message = weir.address(text)
      assert.is_nil(network)
      assert.matches("the address was", message)
    end
  end)
end)

describe("the login policy", function()
  it("C098 counts an account once, however its name is written", function()
    local store = weir.memory()
    local policy = assert(weir.policy { path = "lua/policies/login.lua" })
    local spellings = { "Nick@Example.com ", "nick@example.com", " NICK@EXAMPLE.COM" }
    for i = 1, 6 do
      local request = { user = spellings[i % 3 + 1], address = "192.0.2." .. i, time = support.at(i) }
      assert.equal(i <= 5, assert(policy:decide(store, request)).allowed)
    end
  end)
end)
