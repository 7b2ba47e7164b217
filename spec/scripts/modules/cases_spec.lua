-- What went wrong in the field, each under its number. Times are milliseconds after a round instant.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local fake_redis = require "spec.scripts.support.fake_redis"
local local_scripts = require "spec.scripts.support.local_scripts"

local call = local_scripts.open "scripts"

local START = 1784900040000000 -- a whole minute; some cases move it
local HOUR, MINUTE, SECOND = 3600000000, 60000000, 1000000

local store

local function words(...)
  local all = {}
  for index = 1, select("#", ...) do
    local value = select(index, ...)
    all[index] = type(value) == "number" and ("%.0f"):format(value) or value
  end
  return all
end

-- One call at an instant of the server's clock: the reply as a table of names.
local function at(ms, script, parameters, cost, op)
  store.now_us = START + ms * 1000
  local argv = words(parameters[1], parameters[2], parameters[3], parameters[4])
  argv[#argv + 1] = words(cost or 1)[1]
  argv[#argv + 1] = op
  local reply = call(script, { "key" }, argv)
  assert(not reply.err, reply.err)
  return {
    allowed = reply[1] == 1, limit = reply[2], remaining = reply[3],
    retry = reply[4] < 0 and -1 or reply[4] / 1000, reset = reply[5] / 1000, delay = reply[6] / 1000,
  }
end

-- Verdicts of events { ms[, cost] }: "A", "D" and the wait in ms, or "D never".
local function verdicts(script, parameters, events)
  local out = {}
  for index, event in ipairs(events) do
    local answer = at(event[1], script, parameters, event[2])
    local wait = answer.retry < 0 and "never" or ("%.10g"):format(answer.retry)
    out[index] = answer.allowed and "A" or "D " .. wait
  end
  return out
end

local function count(script, parameters, events)
  local allowed = 0
  for _, verdict in ipairs(verdicts(script, parameters, events)) do
    allowed = allowed + (verdict == "A" and 1 or 0)
  end
  return allowed
end

local function times(number, ms, step)
  local events = {}
  for index = 1, number do
    events[index] = { ms + (index - 1) * (step or 0) }
  end
  return events
end

-- Each algorithm with room for `limit`, and the time after which it is as if untouched, in ms.
local function each(limit)
  return {
    { "token_bucket", { limit, limit * SECOND, limit }, limit * 1000 },
    { "leaky_bucket", { limit, limit * SECOND, limit - 1 }, limit * 1000 },
    { "fixed_window", { limit, MINUTE, 0 }, 60000 },
    { "sliding_log", { limit, MINUTE, 0 }, 60000 },
    { "sliding_counter", { limit, MINUTE, 1, 0 }, 120000 },
  }
end

describe("in the field", function()
  before_each(function() store = fake_redis.open() end)

  it("C001: a late caller is judged as late and gives nothing back", function()
    local bucket = { 5, SECOND, 5 }
    local events = times(5, 0)
    for _, ms in ipairs { 1000, 1000, 1000, 1000, 0, 1000, 1000, 1000, 1000 } do
      events[#events + 1] = { ms }
    end
    assert.are.equal(10, count("token_bucket", bucket, events))
  end)

  it("C005: a jump ahead fills the bucket once", function()
    assert.are.equal(5, count("token_bucket", { 1, SECOND, 5 }, times(5, 0)))
    assert.are.equal(5, count("token_bucket", { 1, SECOND, 5 }, times(6, 3600000)))
  end)

  it("C006, C018: a TTL is the time until the key is as if untouched, and at most a second more", function()
    for _, one in ipairs(each(60)) do
      store = fake_redis.open()
      local answer = at(250, one[1], one[2])
      local ttl = store.keys.key.ttl
      assert.is_true(ttl >= answer.reset and ttl <= answer.reset + 1000, one[1])
      assert.is_true(answer.reset <= one[3])
    end
  end)

  it("C007, C018: a limit holds for the whole window", function()
    assert.are.same({ "A", "A", "A", "D 50000" }, verdicts("fixed_window", { 3, MINUTE, 0 }, { { 0 }, { 0 }, { 0 }, { 10000 } }))
    store = fake_redis.open()
    START = START - START % HOUR
    local events = times(5, 0)
    events[6] = { 301000 }
    assert.are.equal("D 3299000", verdicts("fixed_window", { 5, HOUR, 0 }, events)[6])
    START = 1784900040000000
  end)

  it("C010: 2,994 arrivals 334 us apart pass at 3,000 a second", function()
    assert.are.equal(2994, count("token_bucket", { 3000, SECOND, 1 }, times(2994, 0, 0.334)))
  end)

  it("C013: a key without TTL heals", function()
    store.keys.key = { type = "string", value = "5" }
    assert.are.same({ "A" }, verdicts("token_bucket", { 1, SECOND, 5 }, { { 0 } }))
    assert.is_true(store.keys.key.ttl >= 1)
    store.keys.key = { type = "string", value = ("%.0f:5"):format(START - MINUTE) }
    assert.are.same({ "A" }, verdicts("fixed_window", { 5, MINUTE, 0 }, { { 0 } }))
    assert.is_true(store.keys.key.ttl >= 1)
  end)

  it("C015: 500 a second under 3,000 a second pass at all window edges", function()
    assert.are.equal(5000, count("fixed_window", { 3000, SECOND, 0 }, times(5000, 0, 2)))
  end)

  it("C017: the counter keeps the window before, and the key lives as long", function()
    local counter = { 10, HOUR, 1, 0 }
    local shift = (START % HOUR) / 1000
    local events = { { -shift } }
    for _ = 1, 8 do
      events[#events + 1] = { 59 * 60000 - shift }
    end
    assert.are.equal(9, count("sliding_counter", counter, events))
    local answer = at(59 * 60000 - shift, "sliding_counter", counter, 0)
    assert.is_true(store.keys.key.ttl >= answer.reset)
    -- floor(9 x 59/60) + 1 <= 10: two pass, until the estimate is below 9 once more.
    assert.are.same({ "A", "A", "D 340000.001" }, verdicts("sliding_counter", counter, times(3, 61 * 60000 - shift)))
  end)

  it("C019: capacity below the rate still limits, and a TTL is at least 1 ms", function()
    assert.are.same({ "A", "D 233.334", "D 0.334", "A", "D 67.334", "A" },
      verdicts("token_bucket", { 3, SECOND, 1 }, { { 0 }, { 100 }, { 333 }, { 334 }, { 600 }, { 700 } }))
    store = fake_redis.open()
    at(0, "token_bucket", { 1000000, 1, 5 })
    assert.is_true(store.keys.key.ttl >= 1)
  end)

  it("C021: a rate of 0 is refused by name", function()
    assert.are.equal("WEIR_INVALID rate", call("token_bucket", { "key" }, { "0", "1", "5" }).err:sub(1, 17))
  end)

  it("C022: windows below a second, and no whole second, have whole TTLs", function()
    for _, window in ipairs { 100, 1500 } do
      store = fake_redis.open()
      START = 1784900040000000 - 1784900040000000 % (window * 1000)
      assert.are.same({ "A", "A", "D " .. window, "A" },
        verdicts("fixed_window", { 2, window * 1000, 0 }, { { 0 }, { 0 }, { 0 }, { window } }))
    end
    START = 1784900040000000
  end)

  it("C026: microseconds keep all their digits in the key", function()
    START = 1784900000123456
    local bucket = { 1, 1000, 1 }
    assert.are.same({ "A", "D 0.001", "A" }, verdicts("token_bucket", bucket, { { 0 }, { 0.999 }, { 1 } }))
    assert.are.equal("1784900000125456", store.keys.key.value)
    START = 1784900040000000
  end)

  it("C029: a wait below a second is not lost in the reply", function()
    assert.are.same({ "A", "D 400" }, verdicts("token_bucket", { 1, SECOND, 1 }, { { 0 }, { 600 } }))
  end)

  it("C031: rates above 1,000 a second work", function()
    assert.are.equal(2000, count("token_bucket", { 2000, SECOND, 1 }, times(2000, 0, 0.5)))
    assert.are.same({ "A", "D 0.5" }, verdicts("token_bucket", { 2000, SECOND, 1 }, times(2, 2000)))
  end)

  it("C032: looking often loses no fraction", function()
    local allowed = verdicts("token_bucket", { 1, SECOND, 1 }, times(31, 0, 100))
    for index, verdict in ipairs(allowed) do
      assert.are.equal((index - 1) % 10 == 0, verdict == "A")
    end
  end)

  it("C035: a long idle time fills the bucket exactly", function()
    for _, bucket in ipairs { { 1000000, SECOND, 1000000 }, { 980000000, 10 * SECOND, 980000000 } } do
      store = fake_redis.open()
      assert.is_true(at(0, "token_bucket", bucket, bucket[3]).allowed)
      local answer = at(1000000000000, "token_bucket", bucket, bucket[3])
      assert.is_true(answer.allowed)
      assert.are.equal(0, answer.remaining)
    end
  end)

  it("C036: large limits are exact up to the bound, and refused beyond", function()
    for _, limit in ipairs { 2^31, 2^40 } do
      store = fake_redis.open()
      assert.are.equal(limit - 1, at(0, "fixed_window", { limit, MINUTE, 0 }).remaining)
    end
    assert.are.equal("WEIR_INVALID limit", call("fixed_window", { "key" }, { "98765432198765432198765", "1", "0" }).err:sub(1, 18))
  end)

  it("C037: a promised wait is neither halved nor rounded", function()
    local events = times(7, 0)
    for _, ms in ipairs { 5000, 9999, 10000 } do
      events[#events + 1] = { ms }
    end
    assert.are.same({ "A", "A", "A", "A", "A", "A", "D 10000", "D 5000", "D 1", "A" },
      verdicts("token_bucket", { 6, MINUTE, 6 }, events))
  end)

  it("C041: a bucket fuller than a second's refill fills", function()
    assert.are.same({ "A", "D 1000", "A", "D 1000", "A" }, verdicts("token_bucket", { 1, 2 * SECOND, 1 }, times(5, 0, 1000)))
  end)

  it("C042: burst and rate x time pass, and no more", function()
    assert.are.equal(33, count("token_bucket", { 17, 30 * SECOND, 17 }, times(60, 0, 500)))
    store = fake_redis.open()
    assert.are.equal(29, count("token_bucket", { 15, MINUTE, 15 }, times(1200, 0, 50)))
  end)

  it("C043, C084: exactly the limit passes at one instant", function()
    for _, one in ipairs(each(10)) do
      store = fake_redis.open()
      assert.are.equal(10, count(one[1], one[2], times(100, 0)), one[1])
    end
    for _, one in ipairs(each(3)) do
      store = fake_redis.open()
      for _, left in ipairs { 2, 1, 0, 0 } do
        assert.are.equal(left, at(0, one[1], one[2]).remaining, one[1])
      end
    end
  end)

  it("C045: entries of one microsecond do not collapse", function()
    assert.are.equal(5, count("sliding_log", { 5, SECOND, 0 }, times(10, 0)))
    assert.are.equal(5, #store.keys.key.value)
  end)

  it("C047: of three calls at once one passes a gap", function()
    assert.are.same({ "A", "D 1000", "D 1000", "D 1", "A", "D 1", "A" },
      verdicts("min_gap", { SECOND, 0 }, { { 0 }, { 0 }, { 0 }, { 999 }, { 1000 }, { 1999 }, { 2000 } }))
  end)

  it("C060: scripts touch the keys that are declared, and no other", function()
    for _, one in ipairs(each(2)) do
      store = fake_redis.open()
      verdicts(one[1], one[2], times(4, 0))
      for _, command in ipairs(store.ran) do
        assert.is_true(command[1] == "TIME" or command[2] == "key")
      end
    end
  end)

  it("C080: a limit of 0 refuses for ever and writes no key", function()
    for _, one in ipairs { { "token_bucket", { 1, 1, 0 } }, { "fixed_window", { 0, MINUTE, 0 } }, { "sliding_log", { 0, MINUTE, 1 } },
      { "sliding_counter", { 0, MINUTE, 1, 0 } } } do
      assert.are.same({ "D never" }, verdicts(one[1], one[2], { { 0 } }))
      assert.is_true(at(0, one[1], one[2], 5, "charge").allowed)
      assert.is_nil(store.keys.key)
    end
  end)

  it("C081, C142: a cost above the limit waits for ever and takes nothing", function()
    for _, one in ipairs(each(300)) do
      store = fake_redis.open()
      local answer = at(0, one[1], one[2], 301)
      assert.are.same({ false, -1, 300 }, { answer.allowed, answer.retry, answer.remaining })
      assert.is_nil(store.keys.key)
      assert.are.equal(299, at(0, one[1], one[2]).remaining)
    end
    for _, one in ipairs(each(10)) do
      store = fake_redis.open()
      at(0, one[1], one[2], 8)
      assert.are.equal(2, at(0, one[1], one[2], 5).remaining)
      assert.are.equal(1, at(0, one[1], one[2], 1).remaining)
      local ttl = store.keys.key.ttl
      assert.are.equal(-1, at(0, one[1], one[2], 1000000).retry)
      assert.are.equal(ttl, store.keys.key.ttl)
    end
  end)

  it("C083: a capacity of 15 is 15", function()
    assert.are.equal(14, at(0, "token_bucket", { 30, MINUTE, 15 }).remaining)
    local rest = verdicts("token_bucket", { 30, MINUTE, 15 }, times(15, 0))
    assert.are.equal("A", rest[14])
    assert.are.equal("D 2000", rest[15])
  end)

  it("C090: one per ten seconds and one a day can be said", function()
    assert.are.same({ "A", "D 1", "A" }, verdicts("token_bucket", { 1, 10 * SECOND, 1 }, { { 0 }, { 9999 }, { 10000 } }))
    store = fake_redis.open()
    assert.are.same({ "A", "D 86400000" }, verdicts("token_bucket", { 1, 24 * HOUR, 1 }, times(2, 0)))
  end)

  it("C093: a full log of 70,000 is looked at by a few commands", function()
    local list = {}
    for index = 1, 70000 do
      list[index] = ("%.0f"):format(START - 70000 + index)
    end
    store.keys.key = { type = "list", value = list, ttl = 1 }
    for _, op in ipairs { "peek", "take" } do
      store.ran = {}
      assert.is_false(at(1, "sliding_log", { 70000, 24 * HOUR, 0 }, 1, op).allowed)
      assert.is_true(#store.ran <= 6)
    end
    store.ran = {}
    assert.are.equal(35000, at(24 * 3600 * 1000 - 35, "sliding_log", { 70000, 24 * HOUR, 0 }, 1, "peek").remaining)
    assert.is_true(#store.ran <= 45)
  end)

  it("C106, C107: the wait is to the next token, less what has dripped in", function()
    local events = times(6, 0)
    assert.are.equal("D 1000", verdicts("token_bucket", { 5, 5 * SECOND, 5 }, events)[6])
    assert.are.equal(5000, at(0, "token_bucket", { 5, 5 * SECOND, 5 }, 1).reset)
    store = fake_redis.open()
    assert.are.same({ "A", "D 800" }, verdicts("token_bucket", { 1, SECOND, 1 }, { { 0 }, { 200 } }))
  end)

  it("C109: a log's wait is to when its oldest expires", function()
    assert.are.same({ "A", "A", "A", "D 1000" }, verdicts("sliding_log", { 3, 10 * SECOND, 0 }, { { 0 }, { 4000 }, { 8000 }, { 9000 } }))
  end)

  it("C112: remaining is never negative", function()
    at(0, "fixed_window", { 10, MINUTE, 0 }, 8)
    assert.are.equal(0, at(0, "fixed_window", { 5, MINUTE, 0 }, 1, "peek").remaining)
  end)

  it("C113: remaining is at most the limit", function()
    at(0, "token_bucket", { 3, SECOND, 3 }, 2)
    assert.are.equal(3, at(5000, "token_bucket", { 3, SECOND, 3 }, 1, "peek").remaining)
    local answer = at(5000, "token_bucket", { 3, SECOND, 3 }, 2)
    assert.are.equal(1, answer.remaining)
    assert.are.equal(666.667, answer.reset)
  end)

  it("C116, C117: a changed limit rules at the next call, in all fields", function()
    at(0, "token_bucket", { 10, 10 * SECOND, 10 }, 4)
    local answer = at(0, "token_bucket", { 20, 20 * SECOND, 20 }, 1, "peek")
    assert.are.same({ 20, 16 }, { answer.limit, answer.remaining })
    -- A debt of 4 s above twice a capacity of 1 s becomes 1 s.
    answer = at(0, "token_bucket", { 1, SECOND, 1 }, 1, "peek")
    assert.are.same({ 1, 0, 1000 }, { answer.limit, answer.remaining, answer.reset })
    store = fake_redis.open()
    assert.are.equal(-1, at(0, "token_bucket", { 10, SECOND, 10 }, 12).retry)
  end)

  it("C118: the same limit sent again gives nothing back", function()
    at(0, "token_bucket", { 10, 10 * SECOND, 10 }, 10)
    for _ = 1, 100 do
      assert.are.equal(1000, at(0, "token_bucket", { 10, 10 * SECOND, 10 }).retry)
    end
  end)

  it("C120: a shorter window does not keep the long one's count", function()
    at(0, "fixed_window", { 1, MINUTE, 0 })
    local answer = at(2000, "fixed_window", { 1, SECOND, 0 })
    assert.is_true(answer.allowed)
    assert.is_true(at(2000, "fixed_window", { 1, SECOND, 0 }).retry <= 1000)
  end)

  it("C122: a limit raised in its window counts at once", function()
    at(0, "fixed_window", { 5, MINUTE, 0 }, 5)
    local answer = at(0, "fixed_window", { 10, MINUTE, 0 })
    assert.are.same({ true, 4 }, { answer.allowed, answer.remaining })
  end)

  it("C124: a peek writes nothing, on a missing key and on one in use", function()
    for _, one in ipairs(each(4)) do
      store = fake_redis.open()
      for _ = 1, 100 do
        local answer = at(0, one[1], one[2], 1, "peek")
        assert.are.same({ 4, 0 }, { answer.remaining, answer.reset })
      end
      assert.is_nil(store.keys.key)
      at(0, one[1], one[2], 2)
      store.keys.key.ttl = 12345
      for _ = 1, 100 do
        assert.are.equal(2, at(0, one[1], one[2], 1, "peek").remaining)
      end
      assert.are.equal(12345, store.keys.key.ttl)
    end
  end)

  it("C125: as many pass as a peek says remain", function()
    local counter = { 100, SECOND, 1, 0 }
    at(0, "sliding_counter", counter, 50)
    at(1000, "sliding_counter", counter, 10)
    assert.are.equal(45, at(1100, "sliding_counter", counter, 1, "peek").remaining)
    assert.are.equal(45, count("sliding_counter", counter, times(60, 1100)))
  end)

  it("C126, C128: a refund fills to the limit and no further, and counts at once", function()
    local bucket = { 1, SECOND, 10 }
    at(0, "token_bucket", bucket, 5)
    assert.are.equal(10, at(5000, "token_bucket", bucket, 5, "refund").remaining)
    assert.are.same({ "A", "D 1000" }, verdicts("token_bucket", bucket, { { 5000, 10 }, { 5000, 1 } }))
    store = fake_redis.open()
    at(0, "fixed_window", { 10, MINUTE, 0 }, 10)
    assert.are.equal(1, at(0, "fixed_window", { 10, MINUTE, 0 }, 1, "refund").remaining)
    assert.are.equal(1, count("fixed_window", { 10, MINUTE, 0 }, times(2, 0)))
  end)

  it("C133: a fixed window lets at most twice its limit into any window", function()
    local shift = (START % HOUR) / 1000
    local events = times(6, 59 * 60000 - shift)
    for _, event in ipairs(times(6, 61 * 60000 - shift)) do
      events[#events + 1] = event
    end
    assert.are.equal(10, count("fixed_window", { 5, HOUR, 0 }, events))
    store = fake_redis.open()
    assert.are.equal(5, count("sliding_log", { 5, HOUR, 0 }, events))
  end)

  it("C135, C137: an idle window starts anew", function()
    assert.are.equal(10, count("sliding_counter", { 3, 10 * MINUTE, 1, 0 }, times(10, 0, 20 * 60000)))
    store = fake_redis.open()
    assert.are.equal(10, count("sliding_counter", { 3, 10 * MINUTE, 10, 0 }, times(10, 0, 20 * 60000)))
  end)

  it("C141: refusals that are not counted let the caller back in", function()
    assert.are.same({ "A", "A", "D 2000", "D 1000", "A", "A", "D 2000", "D 1000", "A", "A", "D 2000", "D 1000" },
      verdicts("sliding_log", { 2, 4 * SECOND, 0 }, times(12, 0, 1000)))
  end)

  it("C146: a log holds no more than its limit, also of counted refusals", function()
    count("sliding_log", { 100, HOUR, 1 }, times(1000, 0, 1))
    assert.are.equal(100, #store.keys.key.value)
  end)
end)
