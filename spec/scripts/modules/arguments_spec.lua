-- What the scripts refuse, by name; and values that they did not write.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local fake_redis = require "spec.scripts.support.fake_redis"
local local_scripts = require "spec.scripts.support.local_scripts"

local call = local_scripts.open "scripts"

-- Good parameters of each script, with the name of each and a number that is out of its range.
local parameters = {
  token_bucket = { { "5", "60000000", "5" }, { "rate", "period_us", "burst" }, { "0", "0", "8796093022209" } },
  leaky_bucket = { { "5", "60000000", "5" }, { "rate", "period_us", "queue" }, { "0", "35184372088833", "1099511627777" } },
  fixed_window = { { "5", "60000000", "0" }, { "limit", "window_us", "offset_us" }, { "1099511627777", "0", "60000000" } },
  sliding_log = { { "5", "60000000", "0" }, { "limit", "window_us", "count_denied" }, { "1099511627777", "0", "2" } },
  sliding_counter = { { "5", "60000000", "1", "0" }, { "limit", "window_us", "slots", "strict" },
    { "1099511627777", "0", "601", "2" } },
  min_gap = { { "1000", "0" }, { "gap_us", "count_denied" }, { "0", "2" } },
  concurrency = { { "5", "60000000" }, { "limit", "ttl_us" }, { "1099511627777", "0" } },
}

local function copy(words, more)
  local all = {}
  for index, word in ipairs(words) do
    all[index] = word
  end
  for _, word in ipairs(more or {}) do
    all[#all + 1] = word
  end
  return all
end

local NOT_NUMBERS = { "-1", "+1", "1.5", "1.0", "nan", "inf", "-inf", "1e3", "0x10", "", " ", " 1", "1 ", "01", "one",
  "1e308", "4.9e-324", "99999999999999999999999", "1\0", "\n1" }

describe("the scripts' arguments", function()
  before_each(function() fake_redis.open().now_us = 1784900000123456 end)

  for script, known in pairs(parameters) do
    local good, names, beyond = known[1], known[2], known[3]
    local last = script == "concurrency" and "id" or "1"
    local first_op = script == "concurrency" and "acquire" or "take"

    it("of " .. script .. " pass when they are right", function()
      assert.is_nil(call(script, { "key" }, copy(good, { last })).err)
      assert.is_nil(call(script, { "key" }, copy(good, { last, first_op, "1784900000123456" })).err)
    end)

    for place, name in ipairs(names) do
      it("of " .. script .. " are refused by name when " .. name .. " is no whole number in its range", function()
        for _, wrong in ipairs(copy(NOT_NUMBERS, { beyond[place] })) do
          local argv = copy(good, { last })
          argv[place] = wrong
          local message = call(script, { "key" }, argv).err
          assert.is_string(message, name .. " = " .. wrong)
          assert.are.equal("WEIR_INVALID " .. name, message:sub(1, #name + 13))
          assert.is_nil(message:find "[%c]")
        end
      end)

      it("of " .. script .. " are refused by name when " .. name .. " is missing", function()
        local argv = {}
        for index = 1, place - 1 do
          argv[index] = good[index]
        end
        local first = script == "concurrency" and "id" or name
        assert.are.equal("WEIR_INVALID " .. first, call(script, { "key" }, argv).err:sub(1, #first + 13))
      end)
    end

    it("of " .. script .. " are refused when op, now_us, the key or what follows is wrong", function()
      local function refused(keys, more, word)
        local message = call(script, keys, copy(good, more)).err
        assert.is_string(message)
        assert.are.equal("WEIR_INVALID " .. word, message:sub(1, #word + 13))
      end
      refused({ "key" }, { last, "TAKE" }, "op")
      refused({ "key" }, { last, "" }, "op")
      for _, wrong in ipairs(copy(NOT_NUMBERS, { "4503599627370497" })) do
        refused({ "key" }, { last, first_op, wrong }, "now_us")
      end
      refused({ "key" }, { last, first_op, "1", "more" }, "arguments")
      refused({}, { last }, "key")
      refused({ "" }, { last }, "key")
      refused({ "key", "another" }, { last }, "key")
    end)

    if script ~= "concurrency" then
      it("of " .. script .. " are refused when cost is no whole number in its range (C086, C087)", function()
        for _, wrong in ipairs(copy(NOT_NUMBERS, { "8796093022209" })) do
          for _, op in ipairs { "take", "peek", "refund", "charge" } do
            local message = call(script, { "key" }, copy(good, { wrong, op })).err
            assert.are.equal("WEIR_INVALID cost", message:sub(1, 17))
          end
        end
      end)
    end
  end

  it("say what was given and what would do", function()
    assert.are.equal('WEIR_INVALID rate was "-5", not a whole number from 1 to 1099511627776',
      call("token_bucket", { "key" }, { "-5", "1", "1" }).err)
    assert.are.equal("WEIR_INVALID burst was missing, not a whole number from 0 to 8796093022208",
      call("token_bucket", { "key" }, { "5", "1" }).err)
  end)

  it("of a bucket that would take too long to fill are refused, to the microsecond", function()
    assert.is_nil(call("token_bucket", { "key" }, { "1", "1073741824", "1048576" }).err)
    local message = call("token_bucket", { "key" }, { "1", "1073741824", "1048577" }).err
    assert.are.equal("WEIR_INVALID burst", message:sub(1, 18))
    -- 2^50 exactly, and one third of a microsecond more, where both products are rounded.
    assert.is_nil(call("token_bucket", { "key" }, { "1099511627775", "35184372088800", "35184372088" }).err)
    message = call("leaky_bucket", { "key" }, { "3", "3072", "1099511627776" }).err
    assert.are.equal("WEIR_INVALID queue", message:sub(1, 18))
  end)

  it("of a counter whose window does not divide by its slots are refused", function()
    assert.are.equal("WEIR_INVALID slots", call("sliding_counter", { "key" }, { "5", "10", "3", "0" }).err:sub(1, 18))
  end)

  it("of a lease need an id, but for a peek", function()
    assert.are.equal("WEIR_INVALID id", call("concurrency", { "key" }, { "5", "1000", "" }).err:sub(1, 15))
    assert.are.same(1, call("concurrency", { "key" }, { "5", "1000", "", "peek" })[1])
  end)
end)

describe("all", function()
  local two = { "token_bucket", "3", "5", "60000000", "5", "1", "min_gap", "2", "1000", "0", "1" }
  local function refused(keys, argv, word)
    local message = call("all", keys, argv).err
    assert.is_string(message)
    assert.are.equal("WEIR_INVALID " .. word, message:sub(1, #word + 13))
  end
  before_each(function() fake_redis.open().now_us = 1784900000123456 end)

  it("refuses what is wrong in its list by name, and then nothing is read", function()
    local store = fake_redis.open()
    refused({ "a", "b" }, copy({ "", "renew" }, two), "op")
    refused({}, { "", "take" }, "keys")
    refused({ "a", "a" }, copy({ "", "take" }, two), "key")
    refused({ "a", "" }, copy({ "", "take" }, two), "key")
    refused({ "a", "b", "c" }, copy({ "", "take" }, two), "algorithm")
    refused({ "a" }, copy({ "", "take" }, two), "arguments")
    refused({ "a" }, { "", "take", "leaky", "3", "5", "60000000", "5", "1" }, "algorithm")
    refused({ "a" }, { "", "take", "token_bucket", "2", "5", "60000000", "1" }, "number of parameters")
    refused({ "a" }, { "", "take", "token_bucket", "3", "5", "60000000", "5", "-1" }, "cost")
    refused({ "a" }, { "", "take", "token_bucket", "3", "5", "60000000", "5" }, "cost")
    refused({ "a" }, { "", "take", "concurrency", "2", "5", "60000000", "" }, "id")
    refused({ "a" }, { "", "refund", "concurrency", "2", "5", "60000000", "id" }, "op")
    refused({ "a" }, copy({ "-1", "take" }, { "min_gap", "2", "1000", "0", "1" }), "now_us")
    assert.are.same({}, store.ran)
  end)

  it("writes nothing when a parameter of its last limit is wrong", function()
    local store = fake_redis.open()
    refused({ "a", "b" }, { "1", "take", "min_gap", "2", "1000", "0", "1", "token_bucket", "3", "5", "0", "5", "1" }, "period_us")
    assert.are.same({}, store.keys)
  end)
end)

describe("a value that the algorithm did not write", function()
  local strings = {
    token_bucket = { "abc", "", "-5", "1.5", "0x10", " 12", "12 ", "1e3", "5 3/2", "5 0/2", "5 1/0", "5:3", "9007199254740993" },
    leaky_bucket = { "abc", "5 1", "nan" },
    fixed_window = { "abc", "5", "5:", ":5", "5:-1", "5:1.5", "5 1", "-:5", "5:1125899906842625" },
    sliding_counter = { "abc", "5", "5 ", "5  1", " 5 1", "5:1", "5 -1", "5 1.5", "5 01" },
    min_gap = { "abc", "5:1", "1.5", "" },
  }
  for script, values in pairs(strings) do
    it("is an error of its own for " .. script .. ", and stays", function()
      for _, value in ipairs(values) do
        local store = fake_redis.open()
        store.keys.key = { type = "string", value = value, ttl = 1 }
        assert.are.equal("WEIR_STATE", call(script, { "key" }, parameters[script][1]).err:sub(1, 10), value)
        assert.are.equal(value, store.keys.key.value)
      end
    end)
  end

  it("of another type is an error of its own for each script", function()
    for script, known in pairs(parameters) do
      local store = fake_redis.open()
      store.keys.key = { type = "hash", value = {}, ttl = 1 }
      local argv = copy(known[1], script == "concurrency" and { "id" } or {})
      assert.are.equal("WEIR_STATE", call(script, { "key" }, argv).err:sub(1, 10), script)
      table.insert(argv, 1, tostring(#known[1]))
      table.insert(argv, 1, script)
      if script ~= "concurrency" then
        argv[#argv + 1] = "1"
      end
      assert.are.equal("WEIR_STATE", call("all", { "key" }, copy({ "", "take" }, argv)).err:sub(1, 10), script)
    end
  end)

  it("is an error of its own in a log and among leases", function()
    local store = fake_redis.open()
    store.now_us = 1784900000123456
    store.keys.key = { type = "list", value = { "job one" }, ttl = 1 }
    assert.are.equal("WEIR_STATE", call("sliding_log", { "key" }, parameters.sliding_log[1]).err:sub(1, 10))
    store.keys.key = { type = "zset", value = { member = 1.5 }, ttl = 1 }
    assert.are.equal("WEIR_STATE", call("concurrency", { "key" }, copy(parameters.concurrency[1], { "id" })).err:sub(1, 10))
  end)
end)
