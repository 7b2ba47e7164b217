--- The headers of an answer, in each Lua that makes them: C102 C104 C105 C106 C112 C113 C114 C152, and what they are
-- read as by others.

local support = require "spec.weir.support"
local tools = require "spec.weir.headers.tools"
local weir = require "weir"

local at = support.at

local function limit_of(algorithm, options, key)
  return { algorithm = algorithm, options = options, key = key }
end

local function window(name, limit, length, key)
  return limit_of("fixed_window", { name = name, limit = limit, window = length }, key)
end

-- A row of a limit: what is not given is of a key that is untouched.
local function row_of(most, fields)
  local row = {
    allowed = true, limit = most, remaining = most, retry_after_us = 0, reset_after_us = 0, delay_us = 0,
  }
  for name, value in pairs(fields) do
    row[name] = value
  end
  return row
end

-- A case with the rows that a memory store answers: last the takes, at { ms, cost... }.
local function taken(limits, takes, options)
  local store = weir.memory()
  local made, joint = {}, nil
  for i, limit in ipairs(limits) do
    made[i] = weir[limit.algorithm](limit.options)
  end
  for _, take in ipairs(takes) do
    local checks = {}
    for i, limit in ipairs(made) do
      checks[i] = limit("bob", take[i + 1])
    end
    joint = assert(store:take_all(checks, at(take[1])))
  end
  store:close() -- so that nothing but what was answered can be told
  return { limits = limits, decision = joint, rows = joint.rows, options = options }
end

for _, face in ipairs(tools.faces) do
  local function answer(case)
    return face.answers({ case })[1]
  end

  local function told(limit, row, options)
    return answer { limits = { limit }, one = true, decision = row, options = options }
  end

  describe("headers in " .. face.name, function()
    it("C102 round a wait up to the second, never down", function()
      local cases = {}
      for i, ms in ipairs { 1, 200, 999, 1000, 1001, 1900, 5001 } do
        local row = row_of(5, { allowed = false, remaining = 0, retry_after_us = ms * 1000 })
        cases[i] = { limits = { window("a", 5, "1m") }, decision = row }
      end
      local waits, resets = {}, {}
      for i, one in ipairs(face.answers(cases)) do
        assert.equal(429, one.status)
        waits[i] = one.headers["Retry-After"]
        resets[i] = one.headers["RateLimit"]
      end
      assert.same({ "1", "1", "1", "1", "2", "2", "6" }, waits)
      assert.equal('"a";r=0;t=1', resets[4])
      assert.equal('"a";r=0;t=2', resets[5])
    end)

    it("C104 name the wait of the limit that refuses, from one result alone", function()
      local limits = {
        limit_of("sliding_log", { name = "log", limit = 2, window = "6s" }),
        limit_of("min_gap", { name = "gap", gap = "1s" }),
      }
      local one = answer(taken(limits, { { 0 }, { 2000 }, { 4000 } }))
      assert.equal(429, one.status)
      assert.equal("2", one.headers["Retry-After"])
      assert.equal('"log";r=0;t=2, "gap";r=1;t=0', one.headers["RateLimit"])
    end)

    it("C105 have no Retry-After when allowed or when no wait can help", function()
      local limits = { window("a", 5, "1m") }
      local allowed = answer(taken(limits, { { 0, 5 } }))
      assert.same({ 200, nil }, { allowed.status, allowed.headers["Retry-After"] })
      local refused = answer(taken(limits, { { 0, 5 }, { 1, 1 } }))
      assert.same({ 429, "60" }, { refused.status, refused.headers["Retry-After"] })
      local never = answer(taken(limits, { { 0, 2 }, { 1, 6 } }))
      assert.same({ 429, nil }, { never.status, never.headers["Retry-After"] })
      assert.equal("no-store", never.headers["Cache-Control"])
      assert.equal('"a";r=3', never.headers["RateLimit"])
    end)

    it("C106 name the wait for the next token, not for all of them", function()
      local limits = { limit_of("token_bucket", { name = "a", rate = "1/s", burst = 5 }) }
      local one = answer(taken(limits, { { 0, 5 }, { 0, 1 } }))
      assert.equal("1", one.headers["Retry-After"])
      assert.equal('"a";r=0;t=1', one.headers["RateLimit"])
    end)

    it("C112 never tell less than nought remaining", function()
      local store = weir.memory()
      local wide = weir.fixed_window { name = "a", limit = 10, window = "1m" }
      local narrow = window("a", 5, "1m")
      assert(store:take(wide, "bob", 8, at(0)))
      local row = assert(store:peek(weir.fixed_window(narrow.options), "bob", 1, at(0)))
      assert.equal('"a";r=0;t=60', told(narrow, row).headers["RateLimit"])
      row.remaining = -3
      assert.matches("remaining was %-3; it must be", told(narrow, row).message)
    end)

    it("C113 never tell more remaining than the quota, whose window is the time to fill", function()
      for _, limit in ipairs {
        limit_of("token_bucket", { name = "a", rate = "3/s" }),
        limit_of("leaky_bucket", { name = "a", rate = "3/s", queue = 2 }),
      } do
        local idle = answer(taken({ limit }, { { 0, 2 }, { 5000, 0 } }))
        assert.equal('"a";q=3;w=1', idle.headers["RateLimit-Policy"])
        assert.equal('"a";r=3;t=0', idle.headers["RateLimit"])
        assert.equal('"a";r=1;t=1', answer(taken({ limit }, { { 0, 2 }, { 5000, 2 } })).headers["RateLimit"])
      end
      local burst = limit_of("token_bucket", { name = "a", rate = "10/m", burst = 25 })
      local full = answer(taken({ burst }, { { 0, 0 } }))
      assert.equal('"a";q=25;w=150', full.headers["RateLimit-Policy"])
      assert.equal('"a";r=25;t=0', full.headers["RateLimit"])
      assert.matches("remaining", told(burst, row_of(25, { remaining = 26 })).message)
    end)

    it("C114 tell of each policy by its name, and wait for the slowest", function()
      local limits = { window("hourly", 100, "1h"), window("daily", 1000, "1d") }
      local rows = {
        row_of(100, { remaining = 40, reset_after_us = 1800000000 }),
        row_of(1000, { allowed = false, remaining = 0, retry_after_us = 18000000000, reset_after_us = 18000000000 }),
      }
      local joint = row_of(1000, { allowed = false, remaining = 0, retry_after_us = 18000000000, binding = 2 })
      local function of(options)
        return answer { limits = limits, decision = joint, rows = rows, options = options }
      end
      local one = of { body = true }
      assert.equal("18000", one.headers["Retry-After"])
      assert.equal('"hourly";q=100;w=3600, "daily";q=1000;w=86400', one.headers["RateLimit-Policy"])
      assert.equal('"hourly";r=40;t=1800, "daily";r=0;t=18000', one.headers["RateLimit"])
      assert.equal('{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",' ..
        '"title":"Quota Exceeded","status":429,"violated-policies":["daily"]}', one.body)
      assert.equal("application/problem+json", one.content_type)
      assert.equal("limit=1000, remaining=0, reset=18000", of({ form = "draft_07" }).headers["RateLimit"])
    end)

    it("C152 wait for the longest of those that refuse, which binds", function()
      local limits = {
        limit_of("min_gap", { name = "a", gap = "3s" }),
        limit_of("min_gap", { name = "b", gap = "50s" }),
        limit_of("token_bucket", { name = "c", rate = "10/s" }),
      }
      local one = answer(taken(limits, { { 0 }, { 0 } }, { body = true }))
      assert.equal("50", one.headers["Retry-After"])
      assert.equal('"a";r=0;t=3, "b";r=0;t=50, "c";r=9;t=1', one.headers["RateLimit"])
      assert.matches('"violated%-policies":%["a","b"%]', one.body)
      one = answer(taken(limits, { { 0 }, { 0 } }, { form = "x_seconds" }))
      assert.same({ ["Retry-After"] = "50", ["Cache-Control"] = "no-store", ["X-RateLimit-Limit"] = "1",
        ["X-RateLimit-Remaining"] = "0", ["X-RateLimit-Reset"] = "50" }, one.headers)
    end)

    it("C152 wait for a limit that passes by itself but counts what is denied", function()
      local limits = {
        limit_of("min_gap", { name = "a", gap = "60s" }),
        limit_of("min_gap", { name = "b", gap = "50s", count_denied = true }),
      }
      local case = taken(limits, { { 0 }, { 51000 } }, { body = true })
      assert.is_true(case.rows[2].allowed)
      local one = answer(case)
      assert.equal("50", one.headers["Retry-After"])
      assert.equal('"a";r=0;t=9, "b";r=0;t=50', one.headers["RateLimit"])
      assert.matches('"violated%-policies":%["a","b"%]', one.body)
    end)

    it("escape names in headers and in the body", function()
      local limit = window('a "b" \\c', 5, "1m")
      local row = row_of(5, { allowed = false, remaining = 0, retry_after_us = 1 })
      local one = told(limit, row, { body = true })
      assert.equal([["a \"b\" \\c";q=5;w=60]], one.headers["RateLimit-Policy"])
      assert.equal([["a \"b\" \\c";r=0;t=1]], one.headers["RateLimit"])
      assert.matches([["violated-policies":["a \"b\" \\c"]}]], one.body, 1, true)
    end)

    it("are written in each form", function()
      local limit = window("a", 9, "1m")
      local row = row_of(9, { remaining = 5, reset_after_us = 29500000 })
      local expected = {
        draft_08 = { ["RateLimit-Policy"] = '"a";q=9;w=60', ["RateLimit"] = '"a";r=5;t=30' },
        draft_07 = { ["RateLimit"] = "limit=9, remaining=5, reset=30" },
        draft_06 = { ["RateLimit-Limit"] = "9", ["RateLimit-Remaining"] = "5", ["RateLimit-Reset"] = "30" },
        x_seconds = { ["X-RateLimit-Limit"] = "9", ["X-RateLimit-Remaining"] = "5", ["X-RateLimit-Reset"] = "30" },
        x_epoch = {
          ["X-RateLimit-Limit"] = "9", ["X-RateLimit-Remaining"] = "5", ["X-RateLimit-Reset"] = "1700000030",
        },
        none = {},
      }
      for form, headers in pairs(expected) do
        local one = told(limit, row, { form = form, now_us = 1700000000000001 })
        assert.same({ status = 200, headers = headers }, one, form)
      end
      assert.same(expected.draft_08, told(limit, row).headers)
    end)

    it("tell units by the names of limits, and that places are held at once", function()
      local limits = { window("bytes", 9, "1m"), limit_of("concurrency", { name = "places", limit = 3, ttl = "1m" }) }
      local rows = { row_of(9, {}), row_of(3, {}) }
      local one = answer {
        limits = limits, decision = rows[1], rows = rows, options = { units = { bytes = "content-bytes", x = "y" } },
      }
      assert.equal('"bytes";q=9;qu="content-bytes";w=60, "places";q=3;qu="concurrent-requests"',
        one.headers["RateLimit-Policy"])
    end)

    it("tell keys when they are asked to", function()
      local case = {
        limits = { window("a", 9, "1m", "bob"), window("b", 9, "1m", 42) },
        rows = { row_of(9, {}), row_of(9, {}) }, decision = row_of(9, {}), options = { partition_key = true },
      }
      assert.equal('"a";r=9;t=0;pk=:Ym9i:, "b";r=9;t=0;pk=:NDI=:', answer(case).headers["RateLimit"])
      case.options = nil
      assert.equal('"a";r=9;t=0, "b";r=9;t=0', answer(case).headers["RateLimit"])
    end)

    it("do not tell of limits in shadow, whatever their row", function()
      local limits = { window("a", 9, "1m"), window("b", 9, "1m") }
      local rows = { { shadow = true, code = "WEIR_FULL", message = "no room" }, row_of(9, {}) }
      local one = answer { limits = limits, decision = row_of(9, { binding = 2 }), rows = rows }
      assert.same({ ["RateLimit-Policy"] = '"b";q=9;w=60', ["RateLimit"] = '"b";r=9;t=0' }, one.headers)
      rows[2] = { shadow = true }
      assert.same({}, answer({ limits = limits, decision = row_of(9, {}), rows = rows }).headers)
    end)

    it("are 503 when the store could not be asked, and then tell only what is known", function()
      local row = row_of(9, { allowed = false, remaining = 0, retry_after_us = 1000000, source = "deny_on_error" })
      local one = told(window("a", 9, "1m"), row, { body = true })
      assert.equal(503, one.status)
      assert.same({ ["Retry-After"] = "1", ["Cache-Control"] = "no-store", ["RateLimit-Policy"] = '"a";q=9;w=60' },
        one.headers)
      assert.matches("#temporary-reduced-capacity", one.body, 1, true)
      row = row_of(9, { remaining = 0, source = "allow_on_error" })
      one = told(window("a", 9, "1m"), row)
      assert.same({ status = 200, headers = { ["RateLimit-Policy"] = '"a";q=9;w=60' } }, one)
    end)

    it("of a policy's own word name no wait and no policy", function()
      assert.same({ status = 200, headers = {} }, answer { limits = {}, decision = { allowed = true } })
      local one = answer { limits = {}, decision = { allowed = false }, options = { body = true } }
      assert.same({
        status = 429, headers = { ["Cache-Control"] = "no-store" }, content_type = "application/problem+json",
        body = '{"type":"about:blank","title":"Too Many Requests","status":429}',
      }, one)
    end)

    it("refuse by name what is no row, no limit or no option", function()
      local limits = { window("a", 9, "1m") }
      local good = row_of(9, {})
      local function row(fields)
        return { limits = limits, decision = row_of(9, fields) }
      end
      local function options(given)
        return { limits = limits, decision = good, options = given }
      end
      local cases = {
        { row { remaining = 1.5 }, "remaining was 1.5" },
        { row { remaining = "5" }, "remaining was " },
        { row { remaining = 10 }, 'remaining of limit "a" was 10; it must be from 0 to 9' },
        { row { limit = 8 }, 'the row of limit "a" has the limit 8; it must be 9' },
        { row { retry_after_us = -2 }, "retry_after_us was -2" },
        { row { reset_after_us = -1 }, "reset_after_us was -1" },
        { row { source = "me" }, "it must be store, deny_on_error or allow_on_error" },
        { row { binding = 2 }, "binding was 1; it must be the place of a check" },
        { row { binding = 0 }, "binding was " },
        { row { allowed = 1 }, "decision was " },
        { { limits = limits, decision = good, rows = {} }, "it must be a list of one row a limit" },
        { { limits = limits, decision = good, rows = { { code = "WEIR_FULL" } } }, "rows[1]" },
        { { limits = limits, one = true }, "decision was nil" },
        { { limits = {}, instead = 7, decision = good }, "limits was 7; it must be a limit, or a list" },
        { { limits = {}, instead = { 7 }, decision = good }, "limits[1] was 7; it must be a limit, or a check" },
        { options { form = "draft_09" }, 'form was "draft_09"; it must be draft_08, draft_07' },
        { options { form = "none\0" }, "form was " },
        { options { form = 8 }, "form was 8" },
        { options { form = "x_epoch" }, "now_us was 0; for x_epoch" },
        { options { form = "x_epoch", now_us = 1.5 }, "now_us was 1.5" },
        { options { body = "yes" }, "body was " },
        { options { units = "tokens" }, "units was " },
        { options { units = { a = "caf\xc3\xa9" } }, 'unit of limit "a" was "caf??"; it must be 1 to 64 printable' },
        { options { units = { a = "" } }, 'unit of limit "a" was ""' },
        { options { partition_key = true }, 'the key of limit "a" was empty' },
        { options { unit = "tokens" }, "form, body, units, partition_key" },
        { options "none", "options was " },
      }
      local asked = {}
      for i, case in ipairs(cases) do
        asked[i] = case[1]
      end
      for i, one in ipairs(face.answers(asked)) do
        local message = tostring(one.message)
        assert.is_truthy(message:find(cases[i][2], 1, true), message .. " does not say " .. cases[i][2])
        assert.is_true(one.code == nil or one.code == "WEIR_INVALID")
      end
    end)

    it("refuse keys that do not fit, and cut none", function()
      local limits, rows = {}, {}
      for i = 1, 32 do
        limits[i], rows[i] = window(('"'):rep(62) .. i + 9, 9, "1m", ("k"):rep(150)), row_of(9, {})
      end
      local case = { limits = limits, rows = rows, decision = rows[1], options = { partition_key = true } }
      local _, members = answer(case).headers["RateLimit"]:gsub(";pk=:[%w+/=]+:", "")
      assert.equal(32, members)
      limits[32].key = ("k"):rep(20000)
      assert.matches("the keys of 32 checks are too long", answer(case).message)
    end)
  end)
end

describe("headers", function()
  -- Limits with hostile names, each with some rows that a store answered.
  local function random_cases()
    local random = tonumber(os.getenv "WEIR_SEED" or 1)
    math.randomseed(random)
    local lengths = { "1ms", "999ms", "1s", "1500ms", "1m", "1d" }
    local function length()
      return lengths[math.random(#lengths)]
    end
    local makers = {
      token_bucket = function()
        return { rate = math.random(9), period = length(), burst = math.random(0, 20) }
      end,
      leaky_bucket = function()
        return { rate = math.random(9), period = length(), queue = math.random(0, 9) }
      end,
      fixed_window = function()
        return { limit = math.random(0, 9), window = length() }
      end,
      sliding_log = function()
        return { limit = math.random(9), window = length(), count_denied = math.random(2) == 1 }
      end,
      sliding_counter = function()
        return { limit = math.random(9), window = length(), strict = math.random(2) == 1 }
      end,
      min_gap = function()
        return { gap = length(), count_denied = math.random(2) == 1 }
      end,
    }
    local algorithms = {}
    for algorithm in pairs(makers) do
      algorithms[#algorithms + 1] = algorithm
    end
    table.sort(algorithms)
    local function name(place)
      local letters = {}
      for i = 1, math.random(62) do
        letters[i] = math.random(3) == 1 and ({ '"', "\\" })[math.random(2)] or string.char(math.random(32, 126))
      end
      return table.concat(letters) .. place
    end
    local cases = {}
    for i = 1, 300 do
      local limits, takes = {}, {}
      for place = 1, math.random(4) do
        local algorithm = algorithms[math.random(#algorithms)]
        local options = makers[algorithm]()
        options.name = name(place)
        limits[place] = limit_of(algorithm, options, name(place))
      end
      local ms = 0
      for take = 1, math.random(12) do
        ms = ms + math.random(0, 3) * math.random(0, 700)
        takes[take] = { ms, math.random(0, 3), math.random(0, 3), math.random(0, 3), math.random(0, 3) }
      end
      cases[i] = taken(limits, takes, { partition_key = math.random(2) == 1, body = true })
    end
    return cases
  end

  local cases, answers

  setup(function()
    cases = random_cases()
    answers = tools.faces[1].answers(cases)
  end)

  it("are the same in both Luas", function()
    for i, one in ipairs(tools.faces[2].answers(cases)) do
      assert.same(answers[i], one)
    end
  end)

  it("are read by a parser of others as the rows that went in", function()
    local texts = {}
    for _, one in ipairs(answers) do
      texts[#texts + 1] = one.headers["RateLimit-Policy"]
      texts[#texts + 1] = one.headers["RateLimit"]
    end
    local parsed = tools.parse(texts)
    assert.equal(2 * #cases, #parsed)
    local refused = 0
    for i, case in ipairs(cases) do
      local policies, limits = parsed[2 * i - 1], parsed[2 * i]
      local retry = tonumber(answers[i].headers["Retry-After"])
      assert.equal(#case.limits, #policies)
      assert.equal(#case.limits, #limits)
      for place, limit in ipairs(case.limits) do
        local row, policy, left = case.rows[place], policies[place], limits[place]
        assert.same({ limit.options.name, limit.options.name }, { policy.name, left.name })
        assert.equal(row.limit, policy.parameters.q)
        assert.equal(row.remaining, left.parameters.r)
        assert.is_true(left.parameters.r <= policy.parameters.q)
        assert.is_true((policy.parameters.w or 1) >= 1)
        assert.same(policy.parameters.pk, left.parameters.pk)
        assert.equal(case.options.partition_key, policy.parameters.pk ~= nil)
        local wait = row.retry_after_us ~= 0 and row.retry_after_us or row.reset_after_us
        local seconds = wait ~= -1 and -(-wait // 1000000) or nil
        assert.equal(seconds, left.parameters.t)
      end
      local joint = case.decision
      assert.equal(joint.allowed or joint.retry_after_us == -1, retry == nil)
      if retry then
        refused = refused + 1
        assert.equal(limits[joint.binding].parameters.t, retry)
      end
    end
    assert.is_true(refused > 50)
  end)
end)
