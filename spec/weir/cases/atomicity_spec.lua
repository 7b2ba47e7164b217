--- Cases of concurrency and atomicity that a store must answer in one step: C043 C044 C045 C047.

local algorithms = require "spec.weir.algorithms"
local support = require "spec.weir.support"
local weir = require "weir"

local every, times = support.every, support.times

support.on_each_store("a take", function(on)
  it("C043 counts each of a hundred calls at one instant", function()
    for title, limit in algorithms.that_count("C043", 10) do
      assert.matches("^A x10 D%(%d+%.?%d*%) x90$", on(limit):takes(times(100, 0)), 1, false, title)
    end
    assert.equal("A D(60000) x99", on(algorithms.min_gap("C043")):takes(times(100, 0)))
    local ids = {}
    for i = 1, 100 do
      ids[i] = { 0, i }
    end
    assert.equal("A x10 D(60000) x90", on(algorithms.concurrency("C043", 10)):takes(ids))
  end)

  it("C043 admits 11 of one a second in ten seconds of hammering", function()
    local bob, passed = on(weir.token_bucket { name = "C043", rate = "1/s" }), 0
    for _, ms in ipairs(every(1, 0, 10000)) do
      passed = passed + (bob:take(ms).allowed and 1 or 0)
    end
    assert.equal(11, passed)
  end)

  it("C044 gives the last place once", function()
    local places = on(weir.concurrency { name = "C044", limit = 10, ttl = "1m" })
    local ids = {}
    for i = 1, 13 do
      ids[i] = { 0, "worker " .. i }
    end
    assert.equal("A x10 D(60000) x3", places:takes(ids))
    local log = on(weir.sliding_log { name = "C044", limit = 30, window = "1m" })
    assert.equal("A x30 D(60000) x28", log:takes(times(29, 0), times(29, 0)))
  end)

  it("C045 logs each of several entries of one microsecond", function()
    local bob = on(weir.sliding_log { name = "C045", limit = 5, window = "1s" })
    assert.equal("A x5 D(1000) x5", bob:takes(times(10, 0)))
  end)

  it("C047 lets one of many through a gap", function()
    local bob = on(weir.min_gap { name = "C047", gap = "1000ms" })
    assert.equal("A D(1000) x2 D(1) A D(1) A", bob:takes(times(3, 0), { 999, 1000, 1999, 2000 }))
  end)
end)
