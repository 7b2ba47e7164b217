--- resty.weir.req, count, conn and traffic: what users of lua-resty-limit-traffic get, under a real nginx.

local compat = require "openresty.support.compat"
local nginx = require "openresty.support.nginx"

local HTTP, SERVER, run, hold, sweep =
  compat.HTTP, compat.SERVER, compat.run, compat.hold, compat.sweep

describe("an object of resty.weir.req", function()
  local server

  setup(function()
    server = nginx.start { workers = 1, http = HTTP, server = SERVER }
  end)

  teardown(function()
    server:stop()
    sweep()
  end)

  it("lets the rate pass, delays the burst and rejects the rest, with the seconds until it would pass", function()
    assert.equal("0 1000 2000 rejected 1000", run(server, [[
      local lim, words = req.new(DICT, 0.001, 2), {}
      for i = 1, 3 do
        words[i] = ("%.0f"):format((lim:incoming("burst", true)))
      end
      local delay, why, retry = lim:incoming("burst", true)
      return words[1], words[2], words[3], why, ("%.0f"):format(retry)
    ]]))
  end)

  it("answers the requests ahead as its state", function()
    assert.equal("0 1.00 2.00", run(server, [[
      local lim, words = req.new(DICT, 0.001, 5), {}
      for i = 1, 3 do
        local _, state = lim:incoming("state", true)
        words[i] = state == 0 and 0 or ("%.2f"):format(state)
      end
      return unpack(words)
    ]]))
  end)

  it("records nothing without commit, and a dry run gives nothing back", function()
    assert.equal("0 0 1000 1000 1000", run(server, [[
      local lim, words = req.new(DICT, 0.001, 2), {}
      for i, commit in ipairs { false, true, false, false, true } do
        words[i] = ("%.0f"):format((lim:incoming("dry", commit)))
      end
      return unpack(words)
    ]]))
  end)

  it("takes fractional rates for what was written", function()
    assert.equal("1/10 5/3 33/10 1/2 200/1 1/86400 1/3", run(server, [[
      local fraction, words = require "resty.weir.fraction", {}
      for i, rate in ipairs { 0.1, 100 / 60, 3.3, 0.5, 200, 1 / 86400, 1 / 3 } do
        words[i] = ("%.0f/%.0f"):format(fraction(rate, 2 ^ 40, 35184372))
      end
      return unpack(words)
    ]]))
  end)

  it("is as near as its bounds can come to a rate that no short fraction is", function()
    assert.equal("true", run(server, [[
      local above, below = require "resty.weir.fraction"(math.pi, 2 ^ 40, 35184372)
      return math.abs(above / below - math.pi) < 1e-14
    ]]))
  end)

  it("cuts requests into parts where the burst is not whole", function()
    -- Half a request more may wait than one: the third is due when the first half of a gap has gone by.
    assert.equal("0 1000 rejected 500", run(server, [[
      local lim = req.new(DICT, 0.001, 1.5)
      local first, second = lim:incoming("parts", true), lim:incoming("parts", true)
      local _, why, retry = lim:incoming("parts", true)
      return first, ("%.0f"):format(second), why, ("%.0f"):format(retry)
    ]]))
  end)

  it("gives a commit back", function()
    assert.equal("rejected true 0", run(server, [[
      local lim = req.new(DICT, 0.001, 0)
      lim:incoming("back", true)
      local _, why = lim:incoming("back", true)
      return why, lim:uncommit("back"), (lim:incoming("back", true))
    ]]))
  end)

  it("goes by another rate and burst from the next call on", function()
    assert.equal("rejected true true 1000 1010", run(server, [[
      local lim = req.new(DICT, 0.001, 0)
      lim:incoming("set", true)
      local _, why = lim:incoming("set", true)
      local rate, burst = lim:set_rate(0.1), lim:set_burst(1000)
      local first, second = lim:incoming("set", true), lim:incoming("set", true)
      return why, rate, burst, ("%.0f"):format(first), ("%.0f"):format(second)
    ]]))
  end)

  it("keeps its rate when it is given one that is none", function()
    assert.equal("nil rate was -1; it must be a number from 3e-08 to 1.0995116e+12 WEIR_INVALID 1", run(server, [[
      local lim = req.new(DICT, 1, 0)
      local ok, message, code = lim:set_rate(-1)
      return ok, message, code, lim.rate
    ]]))
  end)

  it("C010: admits 3000 a second without a burst, whatever the clock's tick", function()
    assert.equal("2994", run(server, [[
      local lim, admitted = req.new(DICT, 3000, 0), 0
      local start = lim.store:now_us()
      for i = 0, 2993 do
        if lim.store:take(lim.limit, "C010", lim.cost, start + 334 * i).allowed then
          admitted = admitted + 1
        end
      end
      return admitted
    ]]))
  end)

  it("C041: fills at half a request a second", function()
    assert.equal("true false true false true", run(server, [[
      local lim, words = req.new(DICT, 0.5, 0), {}
      local start = lim.store:now_us()
      for second = 0, 4 do
        words[second + 1] = lim.store:take(lim.limit, "C041", lim.cost, start + second * 1e6).allowed
      end
      return unpack(words)
    ]]))
  end)

  it("gives nothing back when the clock steps back", function()
    assert.equal("true false false true", run(server, [[
      local lim, words = req.new(DICT, 0.1, 0), {}
      local start = lim.store:now_us()
      for i, second in ipairs { 0, 0, -9, 10 } do
        words[i] = lim.store:take(lim.limit, "step", lim.cost, start + second * 1e6).allowed
      end
      return unpack(words)
    ]]))
  end)

  it("C180: reads the clock in every call, not nginx's time of the turn", function()
    assert.equal("0 rejected 0 true", run(server, [[
      local lim = req.new(DICT, 20, 0)
      local turn, start = ngx.now(), lim.store:now_us()
      local first = lim:incoming("C180", true)
      local _, why = lim:incoming("C180", true)
      repeat until lim.store:now_us() - start > 60000
      return first, why, (lim:incoming("C180", true)), turn == ngx.now()
    ]]))
  end)
end)

describe("an object of resty.weir.count", function()
  local server

  setup(function()
    server = nginx.start { workers = 1, http = HTTP, server = SERVER }
  end)

  teardown(function()
    server:stop()
    sweep()
  end)

  it("answers what remains, then rejects with the seconds until the window ends", function()
    assert.equal("0 1 0 0 nil rejected true", run(server, [[
      local lim = count.new(DICT, 2, 34560000)
      local delay, left, ends = lim:incoming("count", true)
      local later, none = lim:incoming("count", true)
      local no, why, retry = lim:incoming("count", true)
      return delay, left, later, none, no, why, retry > 0 and retry <= ends
    ]]))
  end)

  it("answers of a dry run what would remain, and records nothing", function()
    assert.equal("2 2 2 1", run(server, [[
      local lim, words = count.new(DICT, 3, 34560000), {}
      for i, commit in ipairs { false, false, true, false } do
        words[i] = state(lim:incoming("dry", commit))
      end
      return unpack(words)
    ]]))
  end)

  it("does not count what it refuses, so one uncommit makes room for one", function()
    assert.equal("1 0 rejected", run(server, [[
      local lim = count.new(DICT, 2, 34560000)
      for _ = 1, 7 do
        lim:incoming("refused", true)
      end
      return lim:uncommit("refused"), state(lim:incoming("refused", true)), state(lim:incoming("refused", true))
    ]]))
  end)

  it("answers what remains of a key that it has never seen when that is uncommitted", function()
    assert.equal("5", run(server, [[ return count.new(DICT, 5, 60):uncommit "never seen" ]]))
  end)
end)

describe("an object of resty.weir.conn", function()
  local server

  setup(function()
    server = nginx.start { workers = 2, http = HTTP, server = SERVER }
  end)

  teardown(function()
    server:stop()
    sweep()
  end)

  it("counts a request once a key, answers the level and whether it has a place", function()
    assert.equal("false 0 1 true 0 1 0 false", run(server, [[
      local lim = conn.new(DICT, 2, 0, 1)
      local before = lim:is_committed()
      local delay, level = lim:incoming("once", true)
      local has = lim:is_committed()
      local again, same = lim:incoming("once", true)
      return before, delay, level, has, again, same, lim:leaving("once"), lim:is_committed()
    ]]))
  end)

  it("has no place after a dry run", function()
    assert.equal("0 1 false 1", run(server, [[
      local lim = conn.new(DICT, 1, 0, 1)
      local delay, level = lim:incoming("dry")
      return delay, level, lim:is_committed(), state(lim:incoming("dry"))
    ]]))
  end)

  it("delays the burst by turns of the latency that it learns", function()
    local held = { hold(server, "/hold?ip=a"), hold(server, "/hold?ip=a") }
    assert.equal("2 3 1", run(server, [[
      local lim = conn.new(DICT, 1, 2, 1)
      local delay, level = lim:incoming("a")
      lim:leaving("other", 0)
      return delay, level, (lim:incoming "a")
    ]]))
    for _, one in ipairs(held) do
      one.finish()
    end
  end)

  it("frees the place when the client goes away", function()
    local held = hold(server, "/hold?ip=gone")
    assert.equal("2", run(server, [[ return state(conn.new(DICT, 9, 0, 1):incoming "gone") ]]))
    held.leave()
    nginx.until_true(function()
      return run(server, [[ return state(conn.new(DICT, 9, 0, 1):incoming "gone") ]]) == "1"
    end, "the place is not freed")
  end)

  it("knows a request again after a redirect that lost its context", function()
    local _, body = server:get "/redirected"
    assert.equal("nil 0", body)
  end)

  it("answers that a place which has lapsed is lost, and renews one that has not", function()
    assert.equal("true false", run(server, [[
      local lim = conn.new(DICT, 1, 0, 1)
      lim:incoming("renewed", true)
      return lim:renew "renewed", lim:renew "not held"
    ]]))
  end)

  it("C156: gives the place of a holder that crashed to the next", function()
    assert.equal("true true false true false false", run(server, [[
      local lim, words = conn.new(DICT, 2, 0, 1, 10), {}
      local store, start = lim.store, lim.store:now_us()
      local function at(verb, id, second)
        words[#words + 1] = store[verb](store, lim.limit, "C156", id, start + second * 1e6).allowed
      end
      at("acquire", "a", 0)
      at("acquire", "b", 5)
      at("acquire", "c", 7)
      at("acquire", "c", 10)
      at("release", "a", 11)
      at("acquire", "d", 11)
      return unpack(words)
    ]]))
  end)
end)

describe("traffic.combine", function()
  local server

  setup(function()
    server = nginx.start { workers = 1, http = HTTP, server = SERVER }
  end)

  teardown(function()
    server:stop()
    sweep()
  end)

  it("answers the longest delay and every state", function()
    assert.equal("0 500 | 4 1.00 1", run(server, [[
      local lims = { count.new(DICT, 6, 34560000), req.new(DICT, 0.002, 5), conn.new(DICT, 5, 0, 1) }
      local keys, states = { "all", "all", "all" }, {}
      local first = traffic.combine(lims, keys)
      local second = traffic.combine(lims, keys, states)
      lims[3]:leaving("all")
      return first, ("%.0f"):format(second), "|", states[1], ("%.2f"):format(states[2]), states[3]
    ]]))
  end)

  it("tells that a connection has its place", function()
    assert.equal("true false", run(server, [[
      local lims = { req.new(DICT, 0.002, 0), conn.new(DICT, 5, 0, 1) }
      traffic.combine(lims, { "committed", "committed" })
      local first = lims[2]:is_committed()
      traffic.combine(lims, { "committed", "committed" })
      return first, lims[2]:is_committed()
    ]]))
  end)

  it("takes nothing from anyone when one refuses, wherever it stands", function()
    assert.equal("rejected rejected | 9 1", run(server, [[
      local roomy, tight, places = count.new(DICT, 10, 34560000), req.new(DICT, 0.001, 0), conn.new(DICT, 1, 0, 1)
      tight:incoming("tight", true)
      local keys = { roomy = "roomy", tight = "tight", places = "places" }
      local why, late
      for _ = 1, 20 do
        _, why = traffic.combine({ roomy, places, tight }, { "roomy", "places", "tight" })
        _, late = traffic.combine({ tight, places, roomy }, { "tight", "places", "roomy" })
      end
      return why, late, "|", state(roomy:incoming "roomy"), state(places:incoming "places")
    ]]))
  end)

  it("gives back what others took when dicts are several and one refuses after all", function()
    assert.equal("rejected | 9 9", run(server, [[
      local here, there = count.new(DICT, 10, 34560000), count.new(OTHER, 10, 34560000)
      -- It passes when it is asked and refuses when it should record, as when another worker was faster.
      local fickle = {
        incoming = function(_, _, commit)
          if commit then
            return nil, "rejected"
          end
          return 0, 1
        end,
        uncommit = function() end,
      }
      local _, why = traffic.combine({ here, there, fickle }, { "several", "several", "several" })
      return why, "|", state(here:incoming "several"), state(there:incoming "several")
    ]]))
  end)

  it("combines dicts, and limiters that are not weir's", function()
    assert.equal("3 9 9 mine", run(server, [[
      local mine = { incoming = function() return 3, "mine" end, uncommit = function() end }
      local lims, states = { count.new(DICT, 10, 34560000), count.new(OTHER, 10, 34560000), mine }, {}
      local delay = traffic.combine(lims, { "mixed", "mixed", "mixed" }, states)
      return delay, unpack(states)
    ]]))
  end)

  it("refuses a list with a hole, which must not pass as a shorter one", function()
    assert.equal("limiters[2] was nil; it must be a limiter WEIR_INVALID", run(server, [[
      local lim = count.new(DICT, 10, 60)
      return select(2, traffic.combine({ lim, nil, lim }, { "hole", "hole", "hole" }))
    ]]))
    assert.matches("^keys was table: .*; it must be a list of 1 keys, one a limiter WEIR_INVALID$", run(server, [[
      return select(2, traffic.combine({ count.new(DICT, 10, 60), nil }, { "hole", "hole" }))
    ]]))
    assert.matches("^limiters was table: .*; it must be a list of one limiter or more WEIR_INVALID$", run(server, [[
      return select(2, traffic.combine({}, {}))
    ]]))
  end)

  it("refuses one key twice, which would count it once", function()
    assert.matches("^nil .+ WEIR_INVALID$", run(server, [[
      local lim = count.new(DICT, 10, 60)
      return traffic.combine({ lim, lim }, { "twice", "twice" })
    ]]))
  end)

  it("C151: leaves a place of the host to each client, however often one was refused", function()
    local held = { hold(server, "/hold?ip=C151"), hold(server, "/hold?ip=C151") }
    for _ = 1, 50 do
      assert.equal(429, hold(server, "/hold?ip=C151").status)
      assert.equal("3", run(server, [[ return state(conn.new(DICT, 10, 0, 1):incoming "host") ]]))
    end
    for _, one in ipairs(held) do
      one.finish()
    end
    held = {}
    for client = 1, 10 do
      held[client] = hold(server, "/hold?ip=C151-" .. client)
      assert.equal(200, held[client].status)
    end
    for _, one in ipairs(held) do
      one.finish()
    end
  end)
end)

describe("whatever cannot be limited", function()
  local server

  setup(function()
    server = nginx.start { workers = 1, http = HTTP, server = SERVER }
  end)

  teardown(function()
    server:stop()
    sweep()
  end)

  local wrong = {
    { 'req.new("no such", 1, 0)', 'dict_name was "no such"; it must be a lua_shared_dict of the configuration' },
    { "req.new(nil, 1, 0)", "dict_name was nil; it must be a lua_shared_dict of the configuration" },
    { "req.new(DICT, -1, 0)", "rate was -1; it must be a number from 3e-08 to 1.0995116e+12" },
    { "req.new(DICT, 0, 0)", "rate was 0; it must be a number from 3e-08 to 1.0995116e+12" },
    { "req.new(DICT, 0 / 0, 0)", "rate was nan; it must be a number from 3e-08 to 1.0995116e+12" },
    { 'req.new(DICT, "5", 0)', 'rate was "5"; it must be a number from 3e-08 to 1.0995116e+12' },
    { "req.new(DICT, 1, -1)", "burst was -1; it must be a number from 0 to 1.0995116e+12" },
    { "req.new(DICT, 1)", "burst was nil; it must be a number from 0 to 1.0995116e+12" },
    { "count.new(DICT, 0, 60)", "limit was 0; it must be a number from 1 to 1.0995116e+12" },
    { "count.new(DICT, 1, 0)", "window was 0; it must be a number from 1e-06 to 35184372" },
    { "conn.new(DICT, 0, 1, 1)", "conn was 0; it must be a number from 1 to 5.4975581e+11" },
    { "conn.new(DICT, nil, 1, 1)", "conn was nil; it must be a number from 1 to 5.4975581e+11" },
    { "conn.new(DICT, 1, 1, 0)", "default_conn_delay was 0; it must be a number from 1e-06 to 35184372" },
    { "req.new(DICT, 1, 0):incoming(nil, true)", "key was nil; it must be text or a whole number" },
    { "req.new(DICT, 1, 0):incoming(false, true)", "key was false; it must be text or a whole number" },
    { 'count.new(DICT, 1, 60):incoming("", true)', 'key was empty for limit "count"; it must have at least one byte' },
    { "conn.new(DICT, 1, 0, 1):incoming(nil)", "key was nil; it must be text or a whole number" },
    { "conn.new(DICT, 1, 0, 1):leaving({})", "key was a table; it must be text or a whole number" },
    { 'conn.new(DICT, 1, 0, 1):leaving("a", "b")', 'latency was "b"; it must be a number from -35184372 to 35184372' },
  }

  for _, case in ipairs(wrong) do
    it("is an error, never a pass: " .. case[1], function()
      local answer = run(server, "return " .. case[1]):gsub("table: %w+", "a table")
      assert.equal("nil " .. case[2] .. " WEIR_INVALID", answer)
    end)
  end
end)
