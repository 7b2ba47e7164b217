--- Limits and checks in a program: the words of a policy, and what is refused where it was written.

local weir = require "weir"

local makers = {
  token_bucket = { name = "x", rate = "10/s", burst = 5 },
  leaky_bucket = { name = "x", rate = "10/s", queue = 5 },
  fixed_window = { name = "x", limit = 10, window = "1m", offset = "5s" },
  sliding_log = { name = "x", limit = 10, window = "1m", count_denied = true },
  sliding_counter = { name = "x", limit = 10, window = "1m", slots = 6, strict = true },
  min_gap = { name = "x", gap = "1s", count_denied = true },
  concurrency = { name = "x", limit = 10, ttl = "1m" },
}

local function copy(options, field, value)
  local out = {}
  for name, was in pairs(options) do
    out[name] = was
  end
  out[field] = value
  return out
end

local function refuses(algorithm, options, sentence)
  local ok, message = pcall(function()
    weir[algorithm](options)
  end)
  assert.is_false(ok)
  assert.matches("limits_spec.lua:%d+: " .. algorithm .. ": ", message)
  assert.equal(sentence, message:match(algorithm .. ": (.*)"))
end

describe("a limit", function()
  it("knows its name, its algorithm and the most at one instant", function()
    local most = { token_bucket = 5, leaky_bucket = 6, min_gap = 1 }
    for algorithm, options in pairs(makers) do
      local limit = weir[algorithm](options)
      assert.same({ "x", algorithm, most[algorithm] or 10 }, { limit.name, limit.algorithm, limit.limit })
      assert.equal(algorithm .. ' "x"', tostring(limit))
    end
  end)

  it("has no other fields and can't be changed", function()
    local limit = weir.min_gap { name = "x", gap = "1s" }
    assert.error_matches(function()
      return limit.gap
    end, "a limit has name, algorithm and limit")
    assert.has_error(function()
      limit.name = "y"
    end)
  end)

  it("is refused where it was written, by the name of what was wrong", function()
    for algorithm, options in pairs(makers) do
      refuses(algorithm, copy(options, "name", nil), "name is missing; it must be given")
      refuses(algorithm, copy(options, "name", 5), "name was 5; it must be text")
      refuses(algorithm, copy(options, "name", ""), "name was empty; it must be 1 to 64 printable ASCII characters")
      refuses(algorithm, copy(options, "name", "a\0b"),
        "name has a NUL; it must be 1 to 64 printable ASCII characters")
      refuses(algorithm, copy(options, "shadow", true), "shadow was true; only a policy has limits in shadow")
      assert.error_matches(function()
        weir[algorithm](copy(options, "colour", "red"))
      end, '"colour" is no option; the options are name, ')
      assert.error_matches(function()
        weir[algorithm]("x")
      end, algorithm .. ": options was ")
    end
  end)

  it("is refused for a number beyond every range, as it was given", function()
    refuses("fixed_window", { name = "x", limit = 1e300, window = "1m" }, "limit was 1e+300; it must be at most 2^40")
    refuses("fixed_window", { name = "x", limit = 2 ^ 41, window = "1m" },
      "limit was 2199023255552; it must be from 0 to 1099511627776")
    refuses("fixed_window", { name = "x", limit = 1, window = "1m", offset = "1m" },
      "offset was 60000000; it must be less than the window, 60000000")
    refuses("sliding_counter", { name = "x", limit = 1, window = "1m", slots = 7 },
      "slots was 7; it must divide the window, 60000000 us")
  end)

  it("makes checks, which hold limit and key by themselves", function()
    local store = weir.memory()
    local function make()
      return weir.fixed_window { name = "x", limit = 10, window = "1d" }
    end
    local key = string.rep("k", 100)
    local function check_of_its_own()
      return make()(key .. "1", 3)
    end
    local check = check_of_its_own()
    collectgarbage()
    local other = string.rep("j", 100) .. "1"
    assert.equal(7, store:take_all({ check }).remaining)
    assert.equal(7, store:peek(make(), key .. "1").remaining)
    assert.equal(10, store:peek(make(), other).remaining)
  end)

  it("makes no check of what no verb would take", function()
    local bucket = weir.token_bucket { name = "x", rate = "1/s" }
    local places = weir.concurrency { name = "x", limit = 1, ttl = "1s" }
    for _, wrong in ipairs {
      { bucket, nil, 1, "key was nil" }, { bucket, "", 1, "key was empty" }, { bucket, {}, 1, "key was a table" },
      { bucket, "k", -1, "cost was %-1" }, { bucket, "k", 2 ^ 43 + 1, "cost was 8796093022209.0" },
      { bucket, "k", "1", 'cost was the text "1"' }, { bucket, "k", 0 / 0, "cost was not a number" },
      { places, "k", nil, "id was nil" }, { places, "k", "", "id was empty" }, { places, "k", true, "id was true" },
    } do
      assert.error_matches(function()
        wrong[1](wrong[2], wrong[3])
      end, wrong[4])
    end
  end)
end)

describe("a mistake", function()
  it("is raised at the line that made it", function()
    local store = weir.memory()
    local limit = weir.min_gap { name = "x", gap = "1s" }
    for what, mistake in pairs {
      ["a verb"] = function() store:take(limit, "") end,
      ["a check"] = function() limit() end,
      ["a list"] = function() store:take_all {} end,
      ["a store"] = function() weir.memory { size = 0 } end,
      ["a policy"] = function() weir.policy {} end,
      ["a limit"] = function() weir.min_gap {} end,
      ["a duration"] = function() weir.duration(5) end,
    } do
      local _, message = pcall(mistake)
      local line = debug.getinfo(mistake, "S").linedefined
      assert.matches("limits_spec.lua:" .. line .. ": ", message, 1, true, what)
    end
  end)
end)

describe("a duration", function()
  it("is read as people write it", function()
    assert.equal(90000000, weir.duration "1m30s")
    assert.equal(250000, weir.duration "250ms")
    assert.error_matches(function()
      weir.duration "5"
    end, "duration was \"5\"")
  end)
end)
