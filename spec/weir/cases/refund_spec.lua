--- Cases of peek, refund and reset: C124 C125 C126 C128 C130 C131.

local algorithms = require "spec.weir.algorithms"
local support = require "spec.weir.support"
local weir = require "weir"

local times = support.times

support.on_each_store("a key", function(on, store)
  it("C124 is untouched by peeks, missing or half used", function()
    local function check(limit, title, id)
      local bob = on(limit)
      for _ = 1, 100 do
        local row = bob:peek(0, id)
        assert.same({ row.limit, 0, true }, { row.remaining, row.reset_after_us, row.allowed }, title)
      end
      if store().counters then
        assert.equal(0, store():counters().keys, title)
      end
      bob:take(0, id)
      local before = bob:peek(100, id)
      for _ = 1, 100 do
        assert.same(before, bob:peek(100, id), title)
      end
      bob:reset()
    end
    for title, limit in algorithms.that_count("C124", 10) do
      check(limit, title)
    end
    check(algorithms.min_gap("C124"), "min_gap")
    check(algorithms.concurrency("C124", 10), "concurrency", "a")
  end)

  it("C125 lets pass what a peek showed as remaining, and no more", function()
    local bob = on(weir.sliding_counter { name = "C125", limit = 100, window = "1s" })
    assert.equal("A x2", bob:takes { { 0, 50 }, { 1100, 10 } })
    assert.equal(45, bob:peek(1100).remaining)
    assert.matches("^A x45 D%b() x5$", bob:takes(times(50, 1100)))
  end)

  it("C126 is never more than full after a refund", function()
    local bob = on(weir.token_bucket { name = "C126", rate = "1/s", burst = 10 })
    assert.equal("A", bob:takes { { 0, 5 } })
    assert.equal(10, bob:refund(5000, 5).remaining)
    assert.equal("A D(1000)", bob:takes { { 5000, 10 }, 5000 })
  end)

  it("C128 gets back what was given back when nothing remained", function()
    local bob = on(weir.fixed_window { name = "C128", limit = 10, window = "1m" })
    bob:take(0, 10)
    assert.equal(1, bob:refund(0, 1).remaining)
    assert.equal("A D(60000)", bob:takes { 0, 0 })
  end)

  it("C130 gets one place back for one release", function()
    local bob = on(algorithms.concurrency("C130", 1))
    assert.is_true(bob:acquire(0, "a").allowed)
    assert.is_true(bob:release(0, "a").allowed)
    assert.is_false(bob:release(0, "a").allowed)
    assert.is_true(bob:acquire(0, "b").allowed)
    assert.is_false(bob:acquire(0, "c").allowed)
  end)

  it("C131 is as new after a reset, and other keys as they were", function()
    local function check(limit, title, events)
      local bob, eve = on(limit), on(limit, "eve")
      assert.matches("^A x3 D", bob:takes(events), 1, false, title)
      eve:take(0, events[1][2])
      assert.is_true(bob:reset(), title)
      assert.is_true(bob:reset(), title)
      assert.matches("^A x3 D", bob:takes(events), 1, false, title)
      assert.equal(2, eve:peek(0).remaining, title)
    end
    for title, limit in algorithms.that_count("C131", 3) do
      check(limit, title, times(4, { 0, 1 }))
    end
    check(algorithms.concurrency("C131", 3), "concurrency", { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 } })
    local gap = on(algorithms.min_gap("C131"))
    assert.equal("A D(60000)", gap:takes { 0, 0 })
    assert.is_true(gap:reset())
    assert.equal("A D(60000)", gap:takes { 0, 0 })
  end)
end)
