--- Cases of precision and overflow: C026 C028 C029 C031 C032 C035 C036 C037 C039 C041 C042.

local support = require "spec.weir.support"
local weir = require "weir"

local every, times = support.every, support.times

support.on_each_store("arithmetic", function(on, store)
  it("C026 keeps every digit of a microsecond of today", function()
    local t, limit = 1784900000123456, weir.token_bucket { name = "C026", rate = "1/ms" }
    assert.is_true(store():take(limit, "bob", 1, t).allowed)
    local early = store():take(limit, "bob", 1, t + 999)
    assert.same({ false, 1 }, { early.allowed, early.retry_after_us })
    assert.is_true(store():take(limit, "bob", 1, t + 1000).allowed)
    assert.equal("integer", math.type(early.retry_after_us))
  end)

  it("C026 goes to the last now there is", function()
    local limit = weir.min_gap { name = "C026", gap = "1us" }
    assert.is_true(store():take(limit, "bob", 1, 2 ^ 52).allowed)
    assert.equal(1, store():take(limit, "bob", 1, 2 ^ 52).retry_after_us)
  end)

  it("C029 shows the last fraction of a second of a wait", function()
    assert.equal("A D(400)", on(weir.token_bucket { name = "C029", rate = "1/s" }):takes { 0, 600 })
  end)

  it("C031 serves 2000 a second, and a million", function()
    local bob = on(weir.token_bucket { name = "C031", rate = "2000/s", burst = 1 })
    assert.equal("A x2000", bob:takes(every(0.5, 0, 999.5)))
    assert.equal("A D(0.5)", bob:takes { 1000, 1000 })
    local fast = on(weir.token_bucket { name = "C031 fast", rate = "1000000/s", burst = 1 })
    assert.equal("A x1000 D(0.001)", fast:takes(every(0.001, 0, 0.999), { 0.999 }))
  end)

  it("C032 throws no fraction of a token away on a look", function()
    local bob = on(weir.token_bucket { name = "C032", rate = "1/s" })
    local passed = {}
    for _, ms in ipairs(every(100, 0, 3000)) do
      if bob:take(ms).allowed then
        passed[#passed + 1] = ms
      end
    end
    assert.same({ 0, 1000, 2000, 3000 }, passed)
  end)

  it("C035 fills a bucket once, however long it was idle", function()
    local idle = on(weir.token_bucket { name = "C035", rate = "1000000/s" })
    assert.equal("A", idle:takes { { 0, 1e6 } })
    assert.equal("A D(0.001)", idle:takes { { 1e12, 1e6 }, 1e12 })
    local large = on(weir.token_bucket { name = "C035 large", rate = 980000000, period = "10s" })
    assert.equal("A", large:takes { { 0, 980000000 } })
    local month = 30 * 86400000
    assert.equal("A D(0.001)", large:takes { { month, 980000000 }, month })
  end)

  it("C036 is exact to a limit of 2^40", function()
    for _, most in ipairs { 2 ^ 31, 2 ^ 40 } do
      local bob = on(weir.fixed_window { name = "C036 " .. most, limit = most, window = "1d" })
      local row = bob:take(0)
      assert.same({ most, most - 1 }, { row.limit, row.remaining })
    end
  end)

  it("C037 keeps what a refusal promised, and gives nothing at half of it", function()
    local bob = on(weir.token_bucket { name = "C037", rate = "6/m" })
    assert.equal("A x6 D(10000) D(5000) D(1) A", bob:takes(times(7, 0), { 5000, 9999, 10000 }))
  end)

  it("C039 never refuses a fresh key, and with floor(estimate) passes again once the weight is under 1", function()
    local bob = on(weir.sliding_counter { name = "C039", limit = 1, window = "10s" })
    assert.equal("A D(5000.001) A D(5000.001) D(0.001) A",
      bob:takes { 0, 5000, 10000.001, 15000, 20000, 20000.001 })
  end)

  it("C041 keeps capacity and rate apart", function()
    local bob = on(weir.token_bucket { name = "C041", rate = "1/2s", burst = 1 })
    assert.equal("A D(1000) A D(1000) A", bob:takes { 0, 1000, 2000, 3000, 4000 })
  end)

  it("C042 lets a bucket's burst and its refill pass, and never more", function()
    local function passed(limit, events)
      local bob, count = on(limit), 0
      for _, ms in ipairs(events) do
        count = count + (bob:take(ms).allowed and 1 or 0)
      end
      return count
    end
    local pairs_a_second = {}
    for k = 0, 29 do
      pairs_a_second[#pairs_a_second + 1] = k * 1000
      pairs_a_second[#pairs_a_second + 1] = k * 1000 + 250
    end
    assert.equal(33, passed(weir.token_bucket { name = "C042 a", rate = "17/30s" }, pairs_a_second))
    assert.equal(29, passed(weir.token_bucket { name = "C042 b", rate = "15/m" }, every(50, 0, 59950)))
    assert.equal(15, passed(weir.sliding_log { name = "C042 c", limit = 15, window = "1m" }, every(50, 0, 59950)))
  end)
end)

describe("a number", function()
  it("C028 comes whole out of a policy, and no empty list passes for an answer", function()
    local store = weir.memory()
    local policy = assert(weir.policy { text = [[
      local weir = require "weir"
      local gap = weir.min_gap { name = "gap", gap = "1us" }
      return function(request)
        if request.empty then
          return {}
        end
        return gap(request.time)
      end
    ]] })
    assert.equal("1784900000123456", policy:decide(store, { time = 1784900000123456 }).rows[1].key)
    local outcome, message, code = policy:decide(store, { empty = "yes" })
    assert.is_nil(outcome)
    assert.matches("empty table", message)
    assert.equal("WEIR_POLICY", code)
  end)

  it("C036 beyond what is exact is refused when the limit is made", function()
    for _, most in ipairs { 2 ^ 40 + 1, 2 ^ 53 - 1, 2 ^ 53, 1e23 } do
      assert.error_matches(function()
        weir.fixed_window { name = "C036", limit = most, window = "1d" }
      end, "fixed_window: limit was ")
      assert.error_matches(function()
        weir.token_bucket { name = "C036", rate = most, period = "1d" }
      end, "token_bucket: rate was ")
    end
  end)
end)
