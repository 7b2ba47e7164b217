--- resty.weir.req, count and conn in several workers: one bound for all, whoever is killed.

local compat = require "openresty.support.compat"
local nginx = require "openresty.support.nginx"

local HTTP, SERVER, escape, run, hold, wrk, sweep =
  compat.HTTP, compat.SERVER, compat.escape, compat.run, compat.hold, compat.wrk, compat.sweep

describe("workers of another user than nginx's master", function()
  local inherited = HTTP:gsub("}%s*$", "  count.new(DICT, 1, 60)\n}\n")

  for what, http in pairs { ["opened by a worker"] = HTTP, ["inherited from init_by_lua"] = inherited } do
    it("take from a store that was " .. what, function()
      local server = nginx.start { workers = 2, user = "nobody nogroup", http = http, server = SERVER }
      local take = [[ return state(count.new(DICT, 10, 34560000):incoming("user", true)) ]]
      assert.equal("9", run(server, take))
      assert.equal("8", run(server, take))
      server:stop()
      sweep()
    end)
  end
end)

for _, workers in ipairs { 2, 4 } do
  describe(("%d workers"):format(workers), function()
    local server

    before_each(function()
      server = nginx.start { workers = workers, http = HTTP, server = SERVER }
    end)

    after_each(function()
      server:stop()
      sweep()
    end)

    local function seen(name)
      return tonumber(run(server, ('return ngx.shared.seen:get "%s" or 0'):format(name)))
    end

    for _, limiter in ipairs { "count.new(DICT, 500, 34560000)", "req.new(DICT, 1e-6, 499)" } do
      it("admit exactly the bound between them: " .. limiter, function()
        wrk(server, "/take?limiter=" .. escape(limiter), 1)
        assert.equal(500, seen "allowed")
        assert.is_true(seen "rejected" > 500)
      end)
    end

    it("C179: admit what each window has, and no error between two of them", function()
      local first = tonumber(run(server, "return math.floor(count.new(DICT, 1, 1).store:now_us() / 1e6)"))
      wrk(server, "/take?limiter=" .. escape "count.new(DICT, 200, 1)", 3)
      local last = tonumber(run(server, "return math.floor(count.new(DICT, 1, 1).store:now_us() / 1e6)"))
      local admitted, whole_windows = seen "allowed", last - first - 1
      assert.is_true(admitted >= whole_windows * 200 and admitted <= (last - first + 1) * 200)
      assert.is_true(seen "rejected" > 0)
      assert.equal(0, tonumber((run(server, [[
        local others = 0
        for _, key in ipairs(ngx.shared.seen:get_keys()) do
          others = others + ((key == "allowed" or key == "rejected") and 0 or 1)
        end
        return others
      ]]))))
    end)

    it("leave a sound table when some are killed while they take", function()
      local kills = 0
      wrk(server, "/take?limiter=" .. escape "count.new(DICT, 1e9, 34560000)", 1, function()
        nginx.until_true(function()
          local pids = server:workers()
          if #pids == workers then
            server:kill(pids[1])
            kills = kills + 1
          end
          return kills == 5
        end, "killed workers are not replaced")
      end)
      assert.equal("table", run(server, [[ return type(require("resty.weir.dict").store(DICT):check()) ]]))
      -- What was under way when wrk ended is still being counted for a moment.
      nginx.until_true(function()
        local taken = tonumber(run(server, [[ return 1e9 - 1 - state(count.new(DICT, 1e9, 34560000):incoming "one") ]]))
        local counted = seen "allowed"
        return counted > 0 and counted <= taken and taken <= counted + kills
      end, "what was taken is not what was counted")
    end)

    it("keep what is recorded through a reload", function()
      local take = [[ return state(count.new(DICT, 100, 34560000):incoming("reload", true)) ]]
      assert.equal("99", run(server, take))
      server:reload()
      assert.equal("98", run(server, take))
    end)

    it("share nothing with another nginx of the machine", function()
      local take = [[ return state(count.new(DICT, 100, 34560000):incoming("alone", true)) ]]
      local another = nginx.start { workers = workers, http = HTTP, server = SERVER }
      local here, there = run(server, take), run(another, take)
      another:stop()
      assert.equal("99 99", here .. " " .. there)
    end)

    it("C177: free the places of a worker that was killed, after their time, and no other", function()
      local held = {}
      for i = 1, 10 do
        held[i] = hold(server, "/place")
        assert.equal(200, held[i].status)
      end
      assert.equal(429, hold(server, "/place").status)
      local victim = held[1].pid
      server:kill(victim)
      for _, one in ipairs(held) do
        local rest = one.finish()
        assert.equal(one.pid ~= victim, rest:find "0\r\n\r\n$" ~= nil)
      end
      nginx.until_true(function()
        return run(server, [[ return state(conn.new(DICT, 10, 0, 1, 0.5):incoming "place") ]]) == "1"
      end, "places are not freed")
      assert.equal(200, hold(server, "/place").status)
    end)
  end)
end
