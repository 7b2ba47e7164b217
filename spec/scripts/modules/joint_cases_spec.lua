-- What went wrong in the field with several limits at once and with leases. Times are milliseconds.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local fake_redis = require "spec.scripts.support.fake_redis"
local local_scripts = require "spec.scripts.support.local_scripts"

local call = local_scripts.open "scripts"
local START = 1784900040000000

local store

-- Checks are { key, algorithm, parameter, ..., cost or id }.
local function all(ms, checks, op)
  store.now_us = START + ms * 1000
  local keys, argv = {}, { "", op or "take" }
  for index, check in ipairs(checks) do
    keys[index] = check[1]
    argv[#argv + 1] = check[2]
    argv[#argv + 1] = tostring(#check - 3)
    for place = 3, #check do
      argv[#argv + 1] = type(check[place]) == "number" and ("%.0f"):format(check[place]) or check[place]
    end
  end
  local reply = call("all", keys, argv)
  assert(not reply.err, reply.err)
  local answer = { allowed = reply[1] == 1, binding = reply[2], rows = {} }
  for index = 1, #checks do
    local row = 2 + (index - 1) * 6
    answer.rows[index] = { allowed = reply[row + 1] == 1, remaining = reply[row + 3], retry = reply[row + 4] / 1000 }
  end
  return answer
end

local function lease(ms, op, id, limit, ttl_ms)
  store.now_us = START + ms * 1000
  local reply = call("concurrency", { "key" }, { tostring(limit), ("%.0f"):format(ttl_ms * 1000), id, op })
  assert(not reply.err, reply.err)
  return reply[1] == 1, reply[4] / 1000
end

describe("in the field", function()
  before_each(function() store = fake_redis.open() end)

  it("C149: a limit is not charged for what another one refuses", function()
    local allowed, last = 0, nil
    for index = 0, 29 do
      last = all(index * 4000, { { "a", "fixed_window", 10, 60000000, 0, 1 }, { "b", "fixed_window", 30, 1800000000, 0, 1 } })
      allowed = allowed + (last.allowed and 1 or 0)
    end
    assert.are.equal(20, allowed)
    assert.are.equal(10, last.rows[2].remaining)
  end)

  it("C150: a throttled client does not use up what all share, in whatever order they stand", function()
    for _, first in ipairs { "user", "global" } do
      store = fake_redis.open()
      local function hit(user)
        local one = { "user " .. user, "fixed_window", 1, 60000000, 0, 1 }
        local shared = { "global", "fixed_window", 10, 60000000, 0, 1 }
        return all(0, first == "user" and { one, shared } or { shared, one }).allowed
      end
      assert.is_true(hit "x")
      for _ = 1, 19 do
        assert.is_false(hit "x")
      end
      for index = 1, 9 do
        assert.is_true(hit("y" .. index))
      end
      assert.is_false(hit "y10")
    end
  end)

  it("C151: a refused acquire keeps no place in the limits that had one", function()
    local function acquire(address, id)
      return all(0, { { "ip " .. address, "concurrency", 2, 60000000, id }, { "host", "concurrency", 10, 60000000, id } })
    end
    acquire("one", "a")
    acquire("one", "b")
    for index = 1, 50 do
      local answer = acquire("one", "more " .. index)
      assert.is_false(answer.allowed)
      assert.are.equal(8, answer.rows[2].remaining)
    end
    for _, id in ipairs { "a", "b" } do
      call("concurrency", { "host" }, { "10", "60000000", id, "release" })
    end
    for index = 1, 10 do
      assert.is_true(acquire("address " .. index, "id " .. index).allowed)
    end
  end)

  it("C152: the longest wait is told, and the limit that it comes from", function()
    local checks = { { "a", "min_gap", 3000000, 0, 1 }, { "b", "min_gap", 50000000, 0, 1 }, { "c", "fixed_window", 5, 60000000, 0, 1 } }
    assert.is_true(all(0, checks).allowed)
    local answer = all(0, checks)
    assert.are.same({ false, 1, 50000 }, { answer.allowed, answer.binding, answer.rows[2].retry })
    assert.are.equal(4, answer.rows[3].remaining)
  end)

  it("C104: the wait of a refusal by a log and a gap is the log's, when that is longer", function()
    local function hit(ms)
      return all(ms, { { "log", "sliding_log", 2, 6000000, 0, 1 }, { "gap", "min_gap", 1000000, 0, 1 } })
    end
    assert.is_true(hit(0).allowed)
    assert.is_true(hit(2000).allowed)
    local answer = hit(4000)
    assert.are.same({ false, 0, 2000 }, { answer.allowed, answer.binding, answer.rows[1].retry })
  end)

  it("a peek at several answers as a take would and writes nothing; a refund gives back to each", function()
    local checks = { { "a", "fixed_window", 2, 60000000, 0, 1 }, { "b", "fixed_window", 1, 60000000, 0, 1 } }
    assert.is_true(all(0, checks, "peek").allowed)
    assert.are.same({}, store.keys)
    assert.is_true(all(0, checks).allowed)
    assert.is_false(all(0, checks, "peek").allowed)
    local answer = all(0, checks, "refund")
    assert.are.same({ true, 2, 1 }, { answer.allowed, answer.rows[1].remaining, answer.rows[2].remaining })
  end)

  it("C130: the second release of a place finds nothing", function()
    assert.is_true(lease(0, "acquire", "a", 1, 10000))
    assert.is_true(lease(0, "release", "a", 1, 10000))
    assert.is_false(lease(0, "release", "a", 1, 10000))
    assert.is_true(lease(0, "acquire", "b", 1, 10000))
    assert.is_false(lease(0, "acquire", "c", 1, 10000))
  end)

  it("C156: the place of a holder that died is free after its ttl", function()
    assert.is_true(lease(0, "acquire", "a", 2, 10000))
    assert.is_true(lease(5000, "acquire", "b", 2, 10000))
    local allowed, wait = lease(7000, "acquire", "c", 2, 10000)
    assert.are.same({ false, 3000 }, { allowed, wait })
    assert.is_true(lease(10000, "acquire", "c", 2, 10000))
    assert.is_false(lease(11000, "release", "a", 2, 10000))
    assert.is_false(lease(11000, "acquire", "d", 2, 10000))
  end)

  it("C158: work that is longer than its lease renews it", function()
    assert.is_true(lease(0, "acquire", "a", 1, 1000))
    for ms = 500, 3000, 500 do
      assert.is_true(lease(ms, "renew", "a", 1, 1000))
      assert.is_false(lease(ms, "acquire", "b", 1, 1000))
    end
  end)

  it("C160: leases are one key, and a missing key is free", function()
    assert.is_true(lease(0, "acquire", "a", 1, 1000))
    local names = {}
    for name in pairs(store.keys) do
      names[#names + 1] = name
    end
    assert.are.same({ "key" }, names)
    store.keys.key = nil
    assert.is_true(lease(0, "acquire", "b", 1, 1000))
  end)

  it("C044: nine of ten places held, one of four acquires passes", function()
    for index = 1, 9 do
      lease(0, "acquire", "holder " .. index, 10, 1000)
    end
    local granted = 0
    for index = 1, 4 do
      granted = granted + (lease(0, "acquire", "new " .. index, 10, 1000) and 1 or 0)
    end
    assert.are.equal(1, granted)
  end)
end)
