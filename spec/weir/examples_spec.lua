--- The worked examples from the literature.

local support = require "spec.weir.support"
local weir = require "weir"

local every, times = support.every, support.times

support.on_each_store("the literature", function(on)
  it("refuses with a sliding counter of 5, previous 6, current 2, a third into the window", function()
    local bob = on(weir.sliding_counter { name = "counter", limit = 5, window = "60s" })
    bob:charge(0, 6)
    bob:charge(60000, 2)
    assert.equal("D(10000.001)", bob:takes { 80000 })
    assert.equal("D(0.001) A", bob:takes { 90000, 90000.001 })
  end)

  it("records a refused request in a log with count_denied", function()
    local bob = on(weir.sliding_log { name = "log", limit = 5, window = "60s", count_denied = true })
    for _, second in ipairs { 40, 42, 58, 71, 90, 99 } do
      bob:charge(second * 1000, 1)
    end
    local refused = bob:take(100000)
    assert.is_false(refused.allowed)
    -- Of 42, 58, 71, 90, 99 and 100 the newest five are kept, and 58 must go.
    assert.equal(18000000, refused.retry_after_us)
  end)

  it("lets five at 0:59 and five at 1:00 through a fixed window, and only the first five through a log", function()
    local window = on(weir.fixed_window { name = "edge", limit = 5, window = "1m" })
    assert.equal("A x10 D(60000)", window:takes(times(5, 59000), times(6, 60000)))
    local log = on(weir.sliding_log { name = "edge", limit = 5, window = "1m" })
    assert.equal("A x5 D(59000) x5", log:takes(times(5, 59000), times(5, 60000)))
  end)

  it("lets 33 of one each half second for 30 s through a bucket of 17 per 30 s", function()
    local bob, passed = on(weir.token_bucket { name = "bucket", rate = "17/30s" }), 0
    for _, ms in ipairs(every(500, 0, 29500)) do
      passed = passed + (bob:take(ms).allowed and 1 or 0)
    end
    assert.equal(33, passed)
  end)
end)
