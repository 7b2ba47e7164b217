--- Cases of expiry: C015 C016 C017 C018 C019 C021 C022 C023.

local support = require "spec.weir.support"
local weir = require "weir"

local every, times = support.every, support.times

support.on_each_store("what is recorded", function(on)
  it("C015 ends with its window and not before, so far below the limit nothing is refused", function()
    local bob = on(weir.fixed_window { name = "C015", limit = 3000, window = "1s" })
    for _, ms in ipairs(every(2, 0, 9998)) do
      local row = bob:take(ms)
      assert.is_true(row.allowed)
      assert.is_true(row.remaining >= 2500)
    end
  end)

  it("C016 is not prolonged by later hits", function()
    for _, algorithm in ipairs { "fixed_window", "sliding_log" } do
      local slow = on(weir[algorithm] { name = "C016 slow", limit = 10, window = "60s" })
      assert.equal("A x40", slow:takes(every(30000, 0, 39 * 30000)))
      local fast = on(weir[algorithm] { name = "C016 fast", limit = 2, window = "6s" })
      assert.equal("A x10", fast:takes(every(5000, 0, 9 * 5000)))
    end
  end)

  it("C017 in the window before still weighs in the next, where floor(estimate) + cost <= limit", function()
    local bob = on(weir.sliding_counter { name = "C017", limit = 10, window = "1h" })
    assert.equal("A x9", bob:takes({ 0 }, times(8, 59 * 60000)))
    assert.equal("A x2 D(340000.001)", bob:takes(times(3, 61 * 60000)))
    assert.is_true(bob:peek(61 * 60000).reset_after_us >= 59 * 60 * 1000000)
  end)

  it("C018 lives as long as its algorithm needs, never as long as a store would like", function()
    local hourly = on(weir.fixed_window { name = "C018", limit = 5, window = "3600s" })
    assert.equal("A x5 D(3299000)", hourly:takes(times(5, 0), { 301000 }))

    -- One hit at 12.345 s, with a minute for everything.
    local horizons_us = {
      token_bucket = { 1000000, weir.token_bucket { name = "C018", rate = "60/m" } },
      leaky_bucket = { 1000000, weir.leaky_bucket { name = "C018", rate = "60/m", queue = 59 } },
      fixed_window = { 47655000, weir.fixed_window { name = "horizon", limit = 60, window = "1m" } },
      sliding_log = { 60000000, weir.sliding_log { name = "C018", limit = 60, window = "1m" } },
      sliding_counter = { 107655000, weir.sliding_counter { name = "C018", limit = 60, window = "1m" } },
      slots = { 67655000, weir.sliding_counter { name = "C018 slots", limit = 60, window = "1m", slots = 3 } },
      min_gap = { 60000000, weir.min_gap { name = "C018", gap = "1m" } },
      concurrency = { 60000000, weir.concurrency { name = "C018", limit = 60, ttl = "1m" } },
    }
    for what, case in pairs(horizons_us) do
      local bob = on(case[2])
      local row = bob:take(12345, what == "concurrency" and "a" or 1)
      assert.equal(case[1], row.reset_after_us, what)
      local after = bob:peek(12345 + case[1] / 1000)
      assert.same({ row.limit, 0 }, { after.remaining, after.reset_after_us }, what)
    end
  end)

  it("C019 lasts at least a microsecond, also where the bucket holds less than a second's rate", function()
    local bob = on(weir.token_bucket { name = "C019", rate = "3/s", burst = 1 })
    assert.equal("A D(233.334) D(0.334) A D(67.334) A", bob:takes { 0, 100, 333, 334, 600, 700 })
  end)

  it("C021 always ends: a rate of nought is refused when the limit is made", function()
    assert.error_matches(function()
      weir.token_bucket { name = "C021", rate = 0, period = "1s", burst = 5 }
    end, "token_bucket: rate was 0; it must be .* at least 1")
    assert.error_matches(function()
      weir.token_bucket { name = "C021", rate = "0/s", burst = 5 }
    end, "token_bucket: rate was 0; it must be from 1 to 1099511627776")
  end)

  it("C022 may last less than a second, or a second and a half", function()
    local short = on(weir.fixed_window { name = "C022 short", limit = 2, window = "100ms" })
    assert.equal("A x2 D(100) A", short:takes(times(3, 0), { 100 }))
    local odd = on(weir.fixed_window { name = "C022 odd", limit = 2, window = "1500ms" })
    assert.equal("A x2 D(1500) A", odd:takes(times(3, 0), { 1500 }))
  end)

  it("C023 belongs to the window in which it arrived", function()
    local bob = on(weir.fixed_window { name = "C023", limit = 1, window = "1s" })
    assert.equal("A D(750)", bob:takes { 1200, 1250 })
  end)
end)
