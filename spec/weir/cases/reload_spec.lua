--- Cases of reload: C182 C183.

local support = require "spec.weir.support"
local weir = require "weir"

local function bucket_policy(extra)
  return [[
    local weir = require "weir"
    local calls = weir.token_bucket { name = "calls", rate = "1/m", burst = 5 }
    return function(request)
      return calls(request.user)
    end
  ]] .. (extra or "")
end

local function window_policy(limit)
  return [[
    local weir = require "weir"
    local calls = weir.fixed_window { name = "calls", window = "1h", limit = ]] .. limit .. [[ }
    return function(request)
      return calls(request.user)
    end
  ]]
end

support.on_each_store("a reload", function(_, store)
  it("C182 refills nothing and forgets nothing", function()
    local policy = assert(weir.policy { text = bucket_policy() })
    for _ = 1, 5 do
      assert.is_true(policy:decide(store(), { user = "bob", time = support.at(0) }).allowed)
    end
    for i = 1, 10 do
      assert.is_true(policy:reload(bucket_policy("-- " .. i)))
      local outcome = policy:decide(store(), { user = "bob", time = support.at(i * 1000) })
      assert.equal("D(" .. 60000 - i * 1000 .. ")", support.verdicts { outcome })
    end
  end)

  it("C183 takes effect at the next call of every key", function()
    local policy = assert(weir.policy { text = window_policy(10) })
    local function decide(user)
      return assert(policy:decide(store(), { user = user, time = support.at(0) }))
    end
    for _ = 1, 4 do
      decide "bob"
      decide "eve"
    end
    assert.is_true(policy:reload(window_policy(5)))
    for _, user in ipairs { "bob", "eve" } do
      local row = decide(user)
      assert.same({ true, 5, 0 }, { row.allowed, row.limit, row.remaining })
    end
    assert.is_true(policy:reload(window_policy(3)))
    for _, user in ipairs { "bob", "eve" } do
      assert.is_false(decide(user).allowed)
    end
    assert.is_true(decide("new").allowed)
  end)
end)
