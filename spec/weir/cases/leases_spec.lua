--- Cases of leases: C156 C158 C160 C177.

local support = require "spec.weir.support"
local weir = require "weir"

support.on_each_store("a place", function(on)
  local function places(name, limit, ttl)
    return on(weir.concurrency { name = name, limit = limit, ttl = ttl })
  end

  it("C156 comes back when its holder has crashed, and is lost to it for good", function()
    local p = places("C156", 2, "10s")
    assert.equal("A x2 D(3000) A", p:takes { { 0, "a" }, { 5000, "b" }, { 7000, "c" }, { 10000, "c" } })
    assert.is_false(p:release(11000, "a").allowed)
    assert.equal("D(4000)", p:takes { { 11000, "d" } })
  end)

  it("C158 is kept by renewing for as long as the work takes", function()
    local p = places("C158", 1, "1s")
    assert.is_true(p:acquire(0, "worker").allowed)
    for ms = 500, 3000, 500 do
      assert.is_true(p:renew(ms, "worker").allowed)
      assert.equal("D(1000)", p:takes { { ms, "other" } })
    end
    assert.is_false(p:renew(4000, "worker").allowed)
    assert.equal("A", p:takes { { 4000, "other" } })
  end)

  it("C160 is one record with all others of its key, so what is missing is free", function()
    local p = places("C160", 1, "1m")
    assert.equal("A D(60000)", p:takes { { 0, "a" }, { 0, "b" } })
    p:reset()
    assert.equal("A", p:takes { { 0, "b" } })
    assert.is_false(p:release(0, "a").allowed)
  end)

  it("C177 comes back, with all others, one ttl after a worker died", function()
    local p = places("C177", 10, "30s")
    for id = 1, 10 do
      assert.is_true(p:acquire(0, id).allowed)
    end
    assert.is_false(p:acquire(29999.999, "new").allowed)
    for id = 11, 20 do
      assert.is_true(p:acquire(30000, id).allowed)
    end
    assert.is_false(p:acquire(30000, 21).allowed)
  end)
end)
