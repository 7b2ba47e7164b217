--- store_contract: what every store promises, whatever it is kept in.
--
-- A function of a title and of another that opens an empty store. The verbs are given their `now`.

local algorithms = require "spec.weir.algorithms"
local assert = require "luassert"
local busted = require "busted"
local support = require "spec.weir.support"
local weir = require "weir"

local describe, it, before_each, after_each = busted.describe, busted.it, busted.before_each, busted.after_each
local at, verdicts = support.at, support.verdicts

local fields = { "allowed", "delay_us", "limit", "remaining", "reset_after_us", "retry_after_us" }

local function names_of(row)
  local names = {}
  for name in pairs(row) do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

return function(title, open)
  describe(title, function()
    local store

    before_each(function()
      store = assert(open())
    end)

    after_each(function()
      store:close()
    end)

    local function on(limit, key)
      return support.subject(store, limit, key)
    end

    it("answers each verb with a row of the same six fields", function()
      local bob = on(weir.fixed_window { name = "row", limit = 5, window = "1m" })
      for _, verb in ipairs { "take", "peek", "refund", "charge" } do
        assert.same(fields, names_of(bob[verb](bob, 0)), verb)
      end
      local places = on(algorithms.concurrency("row", 5))
      for _, verb in ipairs { "take", "peek", "acquire", "renew", "release" } do
        assert.same(fields, names_of(places[verb](places, 0, "a")), verb)
      end
    end)

    it("shows in a peek what a take would answer, and is as it was after a refusal", function()
      for name, limit in algorithms.that_count("peek", 5) do
        local bob = on(limit)
        bob:take(0, 4)
        local before = bob:peek(0, 2)
        assert.is_false(before.allowed, name)
        local refused = bob:take(0, 2)
        assert.same(before, refused, name)
        assert.same(before, bob:peek(0, 2), name)
        assert.equal(bob:peek(0, 1).allowed, bob:take(0, 1).allowed, name)
      end
    end)

    it("lets the same cost pass at exactly now + retry_after, and not a microsecond sooner", function()
      for name, limit in algorithms.that_count("retry", 5) do
        local bob = on(limit)
        bob:take(7000, 5)
        local wait_ms = bob:take(7000, 3).retry_after_us / 1000
        assert.is_true(wait_ms > 0, name)
        assert.is_false(bob:take(7000 + wait_ms - 0.001, 3).allowed, name)
        assert.is_true(bob:take(7000 + wait_ms, 3).allowed, name)
      end
    end)

    it("is as if untouched at exactly now + reset_after, and not a microsecond sooner", function()
      for name, limit in algorithms.that_count("reset", 5) do
        local bob = on(limit)
        local wait_ms = bob:take(7000, 5).reset_after_us / 1000
        assert.is_true(bob:peek(7000 + wait_ms - 0.001).reset_after_us > 0, name)
        local after = bob:peek(7000 + wait_ms)
        assert.same({ 5, 0 }, { after.remaining, after.reset_after_us }, name)
      end
    end)

    it("gives a refund back, up to what was taken", function()
      for name, limit in algorithms.that_count("refund", 5) do
        local bob = on(limit)
        bob:take(0, 5)
        assert.equal(2, bob:refund(0, 2).remaining, name)
        assert.equal(5, bob:refund(0, 100).remaining, name)
        assert.is_true(bob:take(0, 5).allowed, name)
      end
      local gap = on(algorithms.min_gap "refund")
      gap:take(0)
      assert.equal(1, gap:refund(0).remaining)
      assert.is_true(gap:take(0).allowed)
    end)

    it("records a charge that no take would have been given", function()
      for name, limit in algorithms.that_count("charge", 5) do
        local bob = on(limit)
        bob:take(0, 3)
        local row = bob:charge(0, 4)
        assert.same({ true, 0, 0 }, { row.allowed, row.remaining, row.retry_after_us }, name)
        assert.is_false(bob:take(0, 1).allowed, name)
      end
    end)

    it("lets a cost of nought pass always, and records nothing for it", function()
      for name, limit in algorithms.that_count("nought", 5) do
        local bob = on(limit)
        assert.equal(0, bob:take(0, 0).reset_after_us, name)
        bob:take(0, 5)
        local before = bob:peek(0)
        local row = bob:take(0, 0)
        assert.same({ true, 0 }, { row.allowed, row.retry_after_us }, name)
        assert.same(before, bob:peek(0), name)
      end
    end)

    it("makes a request of a leaky bucket wait for its turn", function()
      local queue = on(weir.leaky_bucket { name = "turn", rate = "1/s", queue = 2 })
      local delays = {}
      for i = 1, 3 do
        delays[i] = queue:take(0).delay_us
      end
      assert.same({ 0, 1000000, 2000000 }, delays)
      local refused = queue:take(0)
      assert.same({ false, 1000000, 0 }, { refused.allowed, refused.retry_after_us, refused.delay_us })
    end)

    it("holds a place for an id until its ttl, and renews it when it is acquired again", function()
      local places = on(algorithms.concurrency("lease", 2))
      assert.equal(1, places:acquire(0, "a").remaining)
      assert.equal(0, places:acquire(1000, "b").remaining)
      assert.is_true(places:acquire(30000, "a").allowed)
      assert.equal("D(1000)", verdicts { places:acquire(60000, "c") })
      assert.is_false(places:peek(60000).allowed)
      assert.is_true(places:peek(60000, "a").allowed)
      assert.is_true(places:acquire(61000, "c").allowed)
      assert.is_false(places:renew(61000, "b").allowed)
      assert.is_true(places:release(61000, "c").allowed)
      assert.equal(1, places:peek(61000).remaining)
    end)

    it("takes all or none, and names the limit that binds", function()
      local wide = weir.fixed_window { name = "wide", limit = 10, window = "1m" }
      local narrow = weir.sliding_log { name = "narrow", limit = 2, window = "1m" }
      local checks = { wide "bob", narrow "bob" }
      local first = store:take_all(checks, at(0))
      assert.same({ true, 1, 2, 2, 0 },
        { first.allowed, first.remaining, first.binding, first.limit, first.retry_after_us })
      assert.same({ 9, 1 }, support.remaining(first.rows))
      assert.is_true(store:take_all(checks, at(0)).allowed)
      local refused = store:take_all(checks, at(10000))
      assert.same({ false, 0, 2, 50000000 },
        { refused.allowed, refused.remaining, refused.binding, refused.retry_after_us })
      assert.same({ 8, 0 }, support.remaining(refused.rows))
      assert.equal("A D(50000)", verdicts(refused.rows))
      assert.equal(8, on(wide):peek(10000).remaining)
    end)

    it("records a refused attempt where count_denied asks for it, whichever limit refused", function()
      local strict = weir.min_gap { name = "knock", gap = "10s", count_denied = true }
      local window = weir.fixed_window { name = "window", limit = 1, window = "1m" }
      local checks = { strict "bob", window "bob" }
      assert.is_true(store:take_all(checks, at(0)).allowed)
      local refused = store:take_all(checks, at(20000))
      assert.same({ false, 2 }, { refused.allowed, refused.binding })
      assert.same({ true, 10000000 }, { refused.rows[1].allowed, refused.rows[1].retry_after_us })
      assert.equal("D(10000)", on(strict):takes { 20000 })
    end)

    it("refuses the same limit and key twice, no checks, and more than 32", function()
      local limit = weir.fixed_window { name = "twice", limit = 10, window = "1m" }
      assert.error_matches(function()
        store:take_all({ limit "bob", limit "bob" }, at(0))
      end, "twice")
      assert.error_matches(function()
        store:take_all({}, at(0))
      end, "checks were 0")
      local many = {}
      for i = 1, 33 do
        many[i] = limit(i)
      end
      assert.error_matches(function()
        store:take_all(many, at(0))
      end, "checks were 33")
      assert.equal(10, on(limit):peek(0).remaining)
      many[33] = nil
      assert.is_true(store:take_all(many, at(0)).allowed)
    end)

    it("takes many by themselves, each with its own answer", function()
      local limit = weir.fixed_window { name = "many", limit = 2, window = "1m" }
      local checks = {}
      for i = 1, 100 do
        checks[i] = limit(i % 3 == 0 and "eve" or i, 1)
      end
      local rows = store:take_many(checks, at(0))
      assert.equal(100, #rows)
      for i, row in ipairs(rows) do
        assert.equal(i % 3 ~= 0 or i <= 6, row.allowed)
      end
      assert.same({}, store:take_many({}, at(0)))
    end)

    it("refuses a verb that the algorithm does not have", function()
      local window = weir.fixed_window { name = "verb", limit = 2, window = "1m" }
      for _, verb in ipairs { "acquire", "renew", "release" } do
        assert.error_matches(function()
          store[verb](store, window, "bob", "a", at(0))
        end, "only concurrency has " .. verb)
      end
      local places = algorithms.concurrency("verb", 2)
      for _, verb in ipairs { "refund", "charge" } do
        assert.error_matches(function()
          store[verb](store, places, "bob", "a", at(0))
        end, "concurrency limit, which has no " .. verb)
      end
    end)

    it("reads its own clock, in Unix time, when no now is given", function()
      local before = os.time()
      local now = store:now_us() / 1000000
      assert.is_true(now >= before and now < os.time() + 1)
      local gap = weir.min_gap { name = "clock", gap = "1d" }
      assert.is_true(store:take(gap, "bob").allowed)
      local waited = store:take(gap, "bob", 1, math.floor((now + 3600) * 1000000))
      assert.is_true(math.abs(waited.retry_after_us / 1000000 - 82800) < 60)
    end)
  end)
end
