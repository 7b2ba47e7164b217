--- Cases of refused requests: C141 C142 C146.

local algorithms = require "spec.weir.algorithms"
local support = require "spec.weir.support"
local weir = require "weir"

local every = support.every

support.on_each_store("a refusal", function(on, store)
  it("C141 leaves the log as it was, so who asks each second gets two in four", function()
    local bob = on(weir.sliding_log { name = "C141", limit = 2, window = "4s" })
    assert.equal("A x2 D(2000) D(1000) A x2 D(2000) D(1000) A x2 D(2000) D(1000)", bob:takes(every(1000, 0, 11000)))
  end)

  it("C141 leaves ten in every ten minutes to who asks twice a minute", function()
    local bob = on(weir.sliding_log { name = "C141 slow", limit = 10, window = "10m" })
    local passed = {}
    for _, ms in ipairs(every(30000, 0, 60 * 60000)) do
      if bob:take(ms).allowed then
        passed[#passed + 1] = ms
      end
    end
    assert.equal(61, #passed)
    for i = 11, #passed do
      assert.is_true(passed[i] - passed[i - 10] >= 600000)
    end
  end)

  it("C141 is recorded only where count_denied asks for it, and then keeps who knocks out", function()
    local bob = on(weir.sliding_log { name = "C141 denied", limit = 2, window = "4s", count_denied = true })
    assert.equal("A x2 D(3000) x10", bob:takes(every(1000, 0, 11000)))
    assert.equal("A", bob:takes { 14000 })
  end)

  it("C142 burns nothing of what was left, however large the cost", function()
    for title, limit in algorithms.that_count("C142", 10) do
      local bob = on(limit)
      assert.is_true(bob:take(0, 8).allowed, title)
      local refused = bob:take(0, 5)
      assert.same({ false, 2 }, { refused.allowed, refused.remaining }, title)
      local last = bob:take(0, 1)
      assert.same({ true, 1 }, { last.allowed, last.remaining }, title)
      local huge = bob:take(0, 1000000)
      assert.same({ false, -1, 1, last.reset_after_us },
        { huge.allowed, huge.retry_after_us, huge.remaining, huge.reset_after_us }, title)
    end
  end)

  it("C146 takes no memory, however many there are", function()
    for _, count_denied in ipairs { false, true } do
      local bob = on(weir.sliding_log { name = "C146", limit = 100, window = "1h", count_denied = count_denied })
      bob:reset()
      bob:take(0, 100)
      for i = 1, 200000 do
        bob:take(i / 1000)
      end
      -- With count_denied the newest hundred stay: two of this microsecond, and 98 of the ones before.
      local expected_us = count_denied and 3600000000 - 98 or 3600000000 - 200000
      assert.equal(expected_us, bob:take(200).retry_after_us)
    end
    if store().counters then
      assert.same({ 1, 0 }, { store():counters().keys, store():counters().evicted })
    end
  end)
end)
