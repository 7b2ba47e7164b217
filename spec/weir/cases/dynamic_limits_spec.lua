--- Cases of limits that change: C116 C117 C118 C120 C122.

local support = require "spec.weir.support"
local weir = require "weir"

local function bucket(rate, burst)
  return weir.token_bucket { name = "bucket", rate = rate, burst = burst }
end

local function window(limit, length)
  return weir.fixed_window { name = "window", limit = limit, window = length }
end

support.on_each_store("a changed limit", function(on)
  it("C116 rules from the next call on, and reads in time what was taken: 4 s of debt", function()
    local bob = on(bucket("1/s", 10))
    bob:take(0, 4)
    local raised = bob:under(bucket("1/s", 20)):peek(0)
    assert.same({ 20, 16 }, { raised.limit, raised.remaining })
    local lowered = bob:under(bucket("1/s", 3)):peek(0)
    assert.same({ 3, 0, 2000000 }, { lowered.limit, lowered.remaining, lowered.retry_after_us })
    local half = bob:under(bucket("2/s", 20)):peek(0)
    assert.same({ 20, 12 }, { half.limit, half.remaining })
  end)

  it("C116 cuts a debt above twice the new capacity to the capacity", function()
    local bob = on(bucket("1/s", 10))
    bob:take(0, 10)
    local cut = bob:under(bucket("1/s", 4))
    assert.equal("D(1000)", cut:takes { 0 })
    assert.equal(4000000, cut:peek(0).reset_after_us)
  end)

  it("C117 is one set of parameters: what it shows is what it decides by", function()
    local bob = on(window(20, "1m")):under(window(10, "1m"))
    assert.equal(10, bob:peek(0).remaining)
    assert.equal("D(never)", bob:takes { { 0, 12 } })
  end)

  it("C118 refills nothing, given again or raised: ten seconds of debt stay", function()
    local bob = on(bucket("1/s", 10))
    bob:take(0, 10)
    for _ = 1, 100 do
      assert.equal("D(1000)", bob:under(bucket("1/s", 10)):takes { 0 })
    end
    assert.equal("D(500)", bob:under(bucket("2/s", 20)):takes { 0 })
    assert.equal(10, bob:under(bucket("1/s", 20)):peek(0).remaining)
    assert.equal("D(1000)", bob:takes { 0 })
  end)

  it("C120 puts a recorded window on the new grid, so the wait is never longer than the new window", function()
    local bob = on(window(1, "60s"))
    assert.equal("A", bob:takes { 0 })
    assert.equal("A D(1000)", bob:under(window(1, "1s")):takes { 2000, 2000 })
    assert.equal("D(57000)", bob:takes { 3000 })
  end)

  it("C122 raised within a window gives the difference at once", function()
    local bob = on(window(5, "1m"))
    assert.equal("A", bob:takes { { 0, 5 } })
    local row = bob:under(window(10, "1m")):take(0)
    assert.same({ true, 4 }, { row.allowed, row.remaining })
  end)
end)
