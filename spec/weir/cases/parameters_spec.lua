--- Cases of parameters: C080 C081 C083 C084 C086 C087 C090 C091 C093 C173.

local algorithms = require "spec.weir.algorithms"
local support = require "spec.weir.support"
local weir = require "weir"

local remaining, times = support.remaining, support.times

local nan, inf = 0 / 0, 1 / 0
local nonsense = { nan, inf, -inf, 1e308, 5e-324, 1.5, -1, "5", "0x5", " 5", "", true, false, {} }

support.on_each_store("a limit", function(on, store)
  it("C080 of nought refuses everything for ever, stores nothing, and lets a cost of nought pass", function()
    local function check(limit, title)
      local bob = on(limit)
      local row = bob:take(0, 1)
      assert.same({ false, 0, 0, -1, 0 },
        { row.allowed, row.limit, row.remaining, row.retry_after_us, row.reset_after_us }, title)
      if limit.algorithm ~= "concurrency" then
        bob:charge(0, 5)
        local nought = bob:take(0, 0)
        assert.same({ true, 0, 0 }, { nought.allowed, nought.retry_after_us, nought.reset_after_us }, title)
      end
      assert.equal(0, bob:peek(0, 1).reset_after_us, title)
    end
    for title, limit in algorithms.that_count("C080", 0, "leaky_bucket") do
      check(limit, title)
    end
    check(algorithms.concurrency("C080", 0), "concurrency")
    if store().counters then
      assert.equal(0, store():counters().keys)
    end
  end)

  it("C081 refuses a cost above itself for ever and takes nothing for it", function()
    for title, limit in algorithms.that_count("C081", 300) do
      local bob = on(limit)
      local row = bob:take(0, 301)
      assert.same({ false, -1, 300, 0 },
        { row.allowed, row.retry_after_us, row.remaining, row.reset_after_us }, title)
      assert.equal(299, bob:take(0, 1).remaining, title)
    end
  end)

  it("C083 lets exactly its burst through at one instant", function()
    local bob = on(weir.token_bucket { name = "C083", rate = "30/m", burst = 15 })
    local first = bob:take(0)
    assert.same({ 15, 14 }, { first.limit, first.remaining })
    assert.equal("A x14 D(2000)", bob:takes(times(15, 0)))
  end)

  it("C084 counts down to nought, one by one, then refuses", function()
    for title, limit in algorithms.that_count("C084", 3) do
      local bob, rows = on(limit), {}
      for i = 1, 4 do
        rows[i] = bob:take(0)
      end
      assert.matches("^A x3 D%(", support.verdicts(rows), 1, false, title)
      assert.same({ 2, 1, 0, 0 }, remaining(rows), title)
    end
    local places, rows = on(algorithms.concurrency("C084", 3)), {}
    for i = 1, 4 do
      rows[i] = places:take(0, i)
    end
    assert.equal("A x3 D(60000)", support.verdicts(rows))
    assert.same({ 2, 1, 0, 0 }, remaining(rows))
  end)

  it("C086 takes no negative cost, whatever the verb, and is untouched by it", function()
    local limit = weir.fixed_window { name = "C086", limit = 10, window = "1m" }
    local bob = on(limit)
    bob:take(0, 6)
    for _, verb in ipairs { "take", "peek", "refund", "charge" } do
      assert.has_error(function()
        store()[verb](store(), limit, "bob", -5, support.at(0))
      end, "cost was -5; it must be a whole number from 0 to 8796093022208")
    end
    assert.equal(4, bob:peek(0).remaining)
    assert.equal(9, bob:refund(0, 5).remaining)
  end)

  it("C087 takes neither as cost nor as now what is no whole number in range", function()
    local limit = weir.token_bucket { name = "C087", rate = "10/s" }
    for _, value in ipairs(nonsense) do
      for _, verb in ipairs { "take", "peek", "refund", "charge" } do
        assert.error_matches(function()
          store()[verb](store(), limit, "bob", value)
        end, "^[^\n]*cost was .*; it must be a whole number from 0 to 8796093022208$")
        assert.error_matches(function()
          store()[verb](store(), limit, "bob", 1, value)
        end, "^[^\n]*now_us was .*; it must be a whole number from 1 to 4503599627370496$")
      end
    end
    assert.equal(0, on(limit):peek(0).reset_after_us)
  end)

  it("C087 takes a float that is a whole number for that number", function()
    assert.equal(5, on(weir.token_bucket { name = "C087", rate = 10.0, period = "1s" }):take(0, 5.0).remaining)
  end)

  it("C090 may be slower than one a second", function()
    local slow = on(weir.token_bucket { name = "C090", rate = "1/10s" })
    assert.equal("A D(1) A", slow:takes { 0, 9999, 10000 })
    local daily = on(weir.token_bucket { name = "C090 daily", rate = "1 per day" })
    assert.equal("A D(1) A", daily:takes { 0, 86399999, 86400000 })
  end)

  it("C091 is used as it was given", function()
    assert.equal("D(never)", on(weir.token_bucket { name = "C091", rate = "10/s", burst = 0 }):takes { 0 })
    assert.equal("A x3 D(100)", on(weir.token_bucket { name = "C091", rate = "10/s", burst = 3 }):takes(times(4, 0)))
  end)

  it("C093 of 70,000 in an exact log answers peeks and refusals without touching the log", function()
    local bob = on(weir.sliding_log { name = "C093", limit = 70000, window = "24h" })
    assert.equal(0, bob:take(0, 70000).remaining)
    local before = bob:peek(1000)
    for _ = 1, 1000 do
      assert.is_false(bob:take(1000).allowed)
      assert.same(before, bob:peek(1000))
    end
    assert.equal(86399000000, before.retry_after_us)
  end)

  it("C173 takes no false and no nil for a key, and no true for a cost", function()
    local limit = weir.fixed_window { name = "C173", limit = 10, window = "1m" }
    for _, verb in ipairs { "take", "peek", "refund", "charge", "reset" } do
      assert.error_matches(function()
        store()[verb](store(), limit, false)
      end, "key was false; it must be text or a whole number")
      assert.error_matches(function()
        store()[verb](store(), limit, nil)
      end, "key was nil; it must be text or a whole number")
    end
    assert.error_matches(function()
      store():take(limit, "bob", true)
    end, "cost was true")
    assert.equal(10, on(limit):peek(0).remaining)
  end)
end)

describe("an option", function()
  local function makes(algorithm, options)
    return function()
      return weir[algorithm](options)
    end
  end

  it("C087 that is no number in range is refused by name", function()
    for _, option in ipairs {
      { "token_bucket", "rate", { period = "1s" } },
      { "token_bucket", "period", { rate = 1 } },
      { "token_bucket", "burst", { rate = "1/s" } },
      { "leaky_bucket", "queue", { rate = "1/s" } },
      { "fixed_window", "limit", { window = "1s" } },
      { "fixed_window", "window", { limit = 1 } },
      { "fixed_window", "offset", { limit = 1, window = "1s" } },
      { "sliding_counter", "slots", { limit = 1, window = "1s" } },
      { "min_gap", "gap", {} },
      { "concurrency", "ttl", { limit = 1 } },
    } do
      local algorithm, field, options = option[1], option[2], option[3]
      options.name = "C087"
      for _, value in ipairs(nonsense) do
        options[field] = value
        -- A rate that is text names the period, and so leaves the one that is given too much.
        local named = field == "rate" and type(value) == "string" and "period" or field
        assert.error_matches(makes(algorithm, options), "^" .. algorithm .. ": " .. named .. " was ")
      end
    end
  end)

  it("C091 is never rounded or raised, and shows as it is", function()
    for _, burst in ipairs { -1, 0.5 } do
      assert.error_matches(makes("token_bucket", { name = "C091", rate = "10/s", burst = burst }), "burst was ")
    end
    assert.equal(0, makes("token_bucket", { name = "C091", rate = "10/s", burst = 0 })().limit)
    assert.equal(10, makes("token_bucket", { name = "C091", rate = "10/s" })().limit)
    assert.equal(6, makes("leaky_bucket", { name = "C091", rate = "10/s", queue = 5 })().limit)
    assert.equal(1, makes("leaky_bucket", { name = "C091", rate = "10/s" })().limit)
    assert.equal(1, makes("min_gap", { name = "C091", gap = "1s" })().limit)
  end)
end)
