--- Cases of clocks and time units: C001 C002 C005 C006 C007 C009 C010 C011 C180.

local support = require "spec.weir.support"
local weir = require "weir"

local every, times = support.every, support.times

support.on_each_store("a clock", function(on)
  it("C001 that stamps a request late gets nothing back, and the late one is refused", function()
    local bob = on(weir.token_bucket { name = "C001", rate = "5/s" })
    assert.equal("A x9 D(1000) A D(200) x3",
      bob:takes(times(5, 0), times(4, 1000), { 0 }, times(4, 1000)))
  end)

  it("C002 that is a little behind drains nothing, and is judged at its own time", function()
    local bob = on(weir.token_bucket { name = "C002", rate = "10/s" })
    assert.equal(3, bob:take(1000, 7).remaining)
    local late = bob:take(995)
    assert.is_true(late.allowed)
    assert.equal(1, late.remaining)
    assert.equal(2, bob:peek(1000).remaining)
  end)

  it("C005 that jumps ahead fills one bucket, and one that returns is re-anchored", function()
    local bob = on(weir.token_bucket { name = "C005", rate = "1/s", burst = 5 })
    assert.equal("A x5", bob:takes(times(5, 0)))
    assert.equal("A x5 D(1000)", bob:takes(times(6, 3600000)))
    assert.equal("D(1000) A D(1000)", bob:takes { 0, 1000, 1000 })
  end)

  it("C006 counts a window in the unit it was given in", function()
    local bob = on(weir.fixed_window { name = "C006", limit = 60, window = "60s" })
    assert.equal(47655000, bob:take(12345).reset_after_us)
  end)

  it("C007 keeps a window of 60 s for 60 s", function()
    local bob = on(weir.fixed_window { name = "C007", limit = 3, window = "60s" })
    assert.equal("A x3 D(50000)", bob:takes(times(3, 0), { 10000 }))
  end)

  it("C010 as fine as a microsecond admits 3000 a second", function()
    local arrivals = every(0.334, 0, 2993 * 0.334)
    assert.equal(2994, #arrivals)
    local queue = on(weir.leaky_bucket { name = "C010", rate = "3000/s", queue = 0 })
    assert.equal("A x2994", queue:takes(arrivals))
    local bucket = on(weir.token_bucket { name = "C010", rate = "3000/s", burst = 1 })
    assert.equal("A x2994", bucket:takes(arrivals))
  end)

  it("C011 knows no month: only durations that are always as long", function()
    for _, window in ipairs { "1 month", "1mo", "1M", "month", "1y" } do
      assert.error_matches(function()
        weir.fixed_window { name = "C011", limit = 1, window = window }
      end, 'fixed_window: window was "' .. window .. '"; it must be a duration')
    end
    assert.error_matches(function()
      weir.token_bucket { name = "C011", rate = "1 per month" }
    end, 'token_bucket: rate was "1 per month"; it must be a rate')
    local bob = on(weir.fixed_window { name = "C011", limit = 1, window = "30d" })
    assert.is_true(bob:take(0).reset_after_us <= 30 * 86400 * 1000000)
  end)
end)

describe("the clock of a store", function()
  local now_ms, store

  before_each(function()
    store = weir.memory {
      clock = function()
        return support.at(now_ms)
      end,
    }
  end)

  it("C009 is the only one that counts, however many callers there are", function()
    local limit = weir.fixed_window { name = "C009", limit = 5, window = "10s" }
    local rows = {}
    now_ms = 19900
    for i = 1, 10 do
      rows[i] = store:take(limit, "shared")
    end
    assert.equal("A x5 D(100) x5", support.verdicts(rows))
  end)

  it("C180 is read in each call, never kept from an earlier one", function()
    local limit = weir.min_gap { name = "C180", gap = "400ms" }
    now_ms = 0
    assert.is_true(store:take(limit, "bob").allowed)
    now_ms = 500
    assert.is_true(store:take(limit, "bob").allowed)
  end)
end)
