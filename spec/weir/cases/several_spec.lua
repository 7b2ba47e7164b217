--- Cases of several limits at once: C149 C150 C151 C152.

local support = require "spec.weir.support"
local weir = require "weir"

local at, every, times, verdicts = support.at, support.every, support.times, support.verdicts

support.on_each_store("several limits", function(on, store)
  local function window(name, limit, length)
    return weir.fixed_window { name = name, limit = limit, window = length }
  end

  it("C149 take from none when one refuses", function()
    local a, b = window("a", 10, "60s"), window("b", 30, "1800s")
    local rows = {}
    for i, ms in ipairs(every(4000, 0, 116000)) do
      rows[i] = store():take_all({ a "bob", b "bob" }, at(ms))
    end
    assert.equal("A x10 D(20000) D(16000) D(12000) D(8000) D(4000) A x10 D(20000) D(16000) D(12000) D(8000) D(4000)",
      verdicts(rows))
    assert.equal(10, on(b):peek(116000).remaining)
  end)

  it("C150 leave the quota of all alone when one user is refused, in either order", function()
    for _, user_first in ipairs { true, false } do
      local name = "C150 " .. tostring(user_first)
      local user, all = window(name .. " user", 1, "1m"), window(name .. " all", 10, "1m")
      local function request(who)
        local checks = user_first and { user(who), all "all" } or { all "all", user(who) }
        return store():take_all(checks, at(0)).allowed
      end
      assert.is_true(request "X")
      for _ = 1, 19 do
        assert.is_false(request "X")
      end
      for i = 1, 9 do
        assert.is_true(request("Y" .. i))
      end
      assert.is_false(request "Y10")
    end
  end)

  it("C151 hold no place in the last of them after a refusal", function()
    local ip = weir.concurrency { name = "ip", limit = 2, ttl = "1m" }
    local host = weir.concurrency { name = "host", limit = 10, ttl = "1m" }
    local function acquire(address, id)
      return store():take_all({ ip(address, id), host("host", id) }, at(0)).allowed
    end
    assert.is_true(acquire("a", 1))
    assert.is_true(acquire("a", 2))
    for id = 3, 52 do
      assert.is_false(acquire("a", id))
      assert.equal(8, on(host, "host"):peek(0).remaining)
    end
    for id = 1, 2 do
      assert.is_true(on(ip, "a"):release(0, id).allowed)
      assert.is_true(on(host, "host"):release(0, id).allowed)
    end
    for i = 1, 10 do
      assert.is_true(acquire("b" .. i, i))
    end
  end)

  it("C152 report the longest wait, the limit that binds, and the row of each", function()
    local a = weir.min_gap { name = "a", gap = "3s" }
    local b = weir.min_gap { name = "b", gap = "50s" }
    local c = weir.token_bucket { name = "c", rate = "10/s" }
    assert.equal("A A", on(a):takes { 0 } .. " " .. on(b):takes { 0 })
    for _ = 1, 2 do
      local joint = store():take_all({ a "bob", b "bob", c "bob" }, at(0))
      assert.equal("D(50000)", verdicts { joint })
      assert.equal(2, joint.binding)
      assert.equal("D(3000) D(50000) A", verdicts(joint.rows))
    end
    assert.equal("A x10", on(c):takes(times(10, 0)))
  end)
end)
