--- Cases of what a refusal promises and a row shows: C104 C105 C106 C107 C109 C112 C113 C114.

local algorithms = require "spec.weir.algorithms"
local support = require "spec.weir.support"
local weir = require "weir"

local at, times, verdicts = support.at, support.times, support.verdicts

support.on_each_store("a row", function(on, store)
  it("C104 has the wait of the limit that refuses, never one in the past", function()
    local log = weir.sliding_log { name = "C104", limit = 2, window = "6s" }
    local gap = weir.min_gap { name = "C104", gap = "1s" }
    local rows = {}
    for i, ms in ipairs { 0, 2000, 4000 } do
      rows[i] = store():take_all({ log "bob", gap "bob" }, at(ms))
    end
    assert.equal("A x2 D(2000)", verdicts(rows))
    assert.equal(1, rows[3].binding)
    assert.equal("D(2000) A", verdicts(rows[3].rows))
  end)

  it("C105 waits 0 when allowed, more when refused, and -1 only when no wait can help", function()
    for title, limit in algorithms.that_count("C105", 5) do
      local bob = on(limit)
      assert.equal(0, bob:take(0, 5).retry_after_us, title)
      assert.is_true(bob:take(0).retry_after_us > 0, title)
      assert.equal(-1, bob:take(0, 6).retry_after_us, title)
    end
  end)

  it("C106 waits for the next token, not for all of them", function()
    local bob = on(weir.token_bucket { name = "C106", rate = "1/s", burst = 5 })
    assert.equal("A x5 D(1000)", bob:takes(times(6, 0)))
    assert.equal(5000000, bob:peek(0).reset_after_us)
  end)

  it("C106 waits in a counter until floor(estimate) + cost <= limit, here one microsecond", function()
    local bob = on(weir.sliding_counter { name = "C106", limit = 60, window = "60s" })
    assert.equal("A x2 D(0.001) A D(1000)", bob:takes { { 0, 60 }, { 72000, 12 }, 72000, 72000.001, 72000.001 })
  end)

  it("C107 counts the part of a token that is there", function()
    assert.equal("A D(800)", on(weir.token_bucket { name = "C107", rate = "1/s" }):takes { 0, 200 })
  end)

  it("C109 waits in a log for the oldest entry", function()
    local bob = on(weir.sliding_log { name = "C109", limit = 3, window = "10s" })
    assert.equal("A x3 D(1000)", bob:takes { 0, 4000, 8000, 9000 })
  end)

  it("C112 never shows less than nought remaining", function()
    local bob = on(weir.fixed_window { name = "C112", limit = 10, window = "1m" })
    bob:take(0, 8)
    assert.equal(0, bob:under(weir.fixed_window { name = "C112", limit = 5, window = "1m" }):peek(0).remaining)
    assert.equal(0, bob:charge(0, 100).remaining)
    local bucket = on(weir.token_bucket { name = "C112", rate = "10/s" })
    assert.equal(0, bucket:charge(0, 15).remaining)
  end)

  it("C113 never shows more than the limit remaining", function()
    local bob = on(weir.token_bucket { name = "C113", rate = "3/s" })
    bob:take(0, 2)
    assert.equal(3, bob:peek(5000).remaining)
    local row = bob:take(5000, 2)
    assert.same({ 1, 666667 }, { row.remaining, row.reset_after_us })
  end)

  it("C114 of several names the limit that binds", function()
    local hourly = weir.fixed_window { name = "hourly", limit = 100, window = "1h" }
    local daily = weir.fixed_window { name = "daily", limit = 1000, window = "1d" }
    local evening = 19 * 3600000
    on(hourly):take(evening, 60)
    on(daily):take(evening, 1000)
    local joint = store():take_all({ hourly "bob", daily "bob" }, at(evening))
    assert.same({ false, 18000000000, 2, 0 },
      { joint.allowed, joint.retry_after_us, joint.binding, joint.remaining })
    assert.equal(40, joint.rows[1].remaining)
    assert.is_true(joint.rows[1].allowed)
  end)
end)
