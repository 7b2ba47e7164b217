--- Cases of memory that grows: C145 C147.

local algorithms = require "spec.weir.algorithms"
local support = require "spec.weir.support"
local weir = require "weir"

local at = support.at

describe("a memory store", function()
  it("C145 gives the place of expired keys to new ones, so none that lives is lost", function()
    local store = weir.memory { size = "8MiB" }
    local ms = 0
    local function fill(limit)
      for i = 1, 10000 do
        assert(store:take(limit, "key " .. i, 1, at(ms)))
      end
      ms = ms + 2 * 120000
    end
    for _ = 1, 3 do
      for _, limit in algorithms.that_count("C145 " .. ms, 10) do
        fill(limit)
      end
      fill(algorithms.min_gap("C145 " .. ms))
      fill(algorithms.concurrency("C145 " .. ms, 10))
    end
    assert.equal(0, store:counters().evicted)
  end)

  it("C147 never grows, counts what it forgets, and forgets the exhausted key last", function()
    local store = weir.memory { size = "128KiB" }
    local exhausted = weir.fixed_window { name = "exhausted", limit = 5, window = "1d" }
    local flood = weir.fixed_window { name = "flood", limit = 5, window = "1d" }
    assert(store:take(exhausted, "bob", 5, at(0)))
    for i = 1, 200000 do
      assert(store:take(flood, i, 1, at(0)))
    end
    assert.is_false(store:take(exhausted, "bob", 1, at(0)).allowed)
    local counters = store:counters()
    assert.equal(131072, counters.size_bytes)
    assert.equal(200001, counters.keys + counters.evicted)
    assert.is_true(counters.keys < 131072 / 32)
  end)
end)
