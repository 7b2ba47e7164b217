--- The memory store of a program: opening, its clock, what it says when it has no room, closing.

local support = require "spec.weir.support"
local weir = require "weir"

local function refuses(options, sentence)
  assert.error_matches(function()
    weir.memory(options)
  end, sentence)
end

describe("a memory store", function()
  local window = weir.fixed_window { name = "window", limit = 5, window = "1d" }

  it("is 16 MiB unless said, and of the size said", function()
    assert.equal(16777216, weir.memory():counters().size_bytes)
    assert.equal(1048576, weir.memory({ size = "1MiB" }):counters().size_bytes)
    assert.equal(65536, weir.memory({ size = "64KiB" }):counters().size_bytes)
    assert.equal(100000, weir.memory({ size = 100000 }):counters().size_bytes)
    assert.equal(100000, weir.memory({ size = 1e5 }):counters().size_bytes)
  end)

  it("refuses a size that is unclear, and an option that is none", function()
    for _, size in ipairs { "16", "16 MiB", "16MB", "MiB", "1.5MiB", "-1MiB", "0MiB", "9999999999KiB", "16MiB\0" } do
      refuses({ size = size }, "size was the text")
    end
    for _, size in ipairs { 0, -1, 1.5, 0 / 0, 1 / 0, true, false } do
      refuses({ size = size }, "size was ")
    end
    refuses({ size = "63KiB" }, "size_bytes was 64512; it must be at least 65536 %(64 KiB%)")
    refuses({ sise = "1MiB" }, 'the text "sise" is no option; the options are size, side, clock')
    refuses({ "1MiB" }, "1 is no option")
    refuses("1MiB", 'options was the text "1MiB"; it must be a table')
    refuses({ clock = 5 }, "clock was 5; it must be a function")
    refuses({ side = true }, "side was true")
    refuses({ size = "64KiB", side = "64KiB" }, "side_bytes was 65536; it must leave the table 32 KiB")
  end)

  it("answers nil, a sentence and WEIR_FULL when a state has no room, and records nothing", function()
    local store = weir.memory { size = "64KiB", side = false }
    local log = weir.sliding_log { name = "log", limit = 5, window = "1m" }
    local row, message, code = store:take(log, "bob")
    assert.is_nil(row)
    assert.is_string(message)
    assert.equal("WEIR_FULL", code)
    local joint, _, joint_code = store:take_all { window "bob", log "bob" }
    assert.same({ nil, "WEIR_FULL" }, { joint, joint_code })
    assert.equal(0, store:counters().keys)
    local rows = store:take_many { window "bob", log "bob", window "bob" }
    assert.equal(3, #rows)
    assert.is_true(rows[1].allowed)
    assert.same({ code = "WEIR_FULL", message = "the store has no room left for the state of this limit" }, rows[2])
    assert.equal(3, rows[3].remaining)
  end)

  it("counts what passed and what was refused", function()
    local store = weir.memory()
    for i = 1, 8 do
      store:take(window, "bob", 1, support.at(i))
    end
    store:peek(window, "bob", 1, support.at(9))
    local counters = store:counters()
    assert.same({ 1, 0, 5, 3 }, { counters.keys, counters.evicted, counters.allowed, counters.refused })
  end)

  it("uses the clock that it was given, unless now_us is given too", function()
    local calls = 0
    local store = weir.memory {
      clock = function()
        calls = calls + 1
        return support.at(1000)
      end,
    }
    local gap = weir.min_gap { name = "gap", gap = "10s" }
    assert.equal(support.at(1000), store:now_us())
    assert.is_true(store:take(gap, "bob").allowed)
    assert.equal(2, calls)
    assert.equal(10000000, store:peek(gap, "bob").retry_after_us)
    assert.equal(4000000, store:peek(gap, "bob", 1, support.at(7000)).retry_after_us)
    assert.equal(3, calls)
    store:take_all { window "bob", gap "bob" }
    store:take_many { window "bob", gap "bob" }
    assert.equal(5, calls)
    store:reset(gap, "bob")
    assert.equal(5, calls)
  end)

  it("refuses what a clock says that is no instant, and passes its error on", function()
    local says
    local store = weir.memory {
      clock = function()
        return says
      end,
    }
    for _, wrong in ipairs { 0, -1, 1.5, "5", 2 ^ 52 + 1, 0 / 0, false } do
      says = wrong
      assert.error_matches(function()
        store:take(window, "bob")
      end, "what the clock said was .*; it must be a whole number from 1 to 4503599627370496")
    end
    local broken = weir.memory {
      clock = function()
        error("no clock", 0)
      end,
    }
    assert.has_error(function()
      broken:take(window, "bob")
    end, "no clock")
    assert.equal(5, broken:peek(window, "bob", 1, support.at(0)).remaining)
  end)

  it("takes the list as it was before its clock changed it", function()
    local list
    local store = weir.memory {
      clock = function()
        list[1], list[2] = nil, nil
        collectgarbage()
        for i = 1, 100 do
          list[i] = string.rep("x", i)
        end
        return support.at(0)
      end,
    }
    local function fill()
      list = { window(string.rep("k", 100), 2), window "eve" }
    end
    fill()
    assert.same({ 3, 4 }, support.remaining(store:take_all(list).rows))
    fill()
    assert.same({ 1, 3 }, support.remaining(store:take_many(list)))
    assert.equal(1, store:peek(window, string.rep("k", 100), 1, support.at(0)).remaining)
  end)

  it("can be closed by its own clock, and says so", function()
    local store
    store = weir.memory {
      clock = function()
        store:close()
        return support.at(0)
      end,
    }
    assert.error_matches(function()
      store:take(window, "bob")
    end, "the store is closed")
  end)

  it("takes no list that is none of checks", function()
    local store = weir.memory()
    for _, verb in ipairs { "take_all", "take_many" } do
      assert.error_matches(function()
        store[verb](store, window "bob")
      end, "checks was a userdata; it must be a list of checks")
      assert.error_matches(function()
        store[verb](store, { window "bob", window })
      end, "checks%[2%] was a userdata; it must be a check, which limit%(key, cost%) makes")
      assert.error_matches(function()
        store[verb](store, { window "bob", nil, window "eve" })
      end, "checks%[2%] was nil")
      assert.error_matches(function()
        store[verb](store, { window "bob" }, 1.5)
      end, "now_us was 1.5")
    end
  end)

  it("takes nothing else for a limit or for itself", function()
    local store = weir.memory()
    for _, wrong in ipairs { false, "window", 5, {}, store, io.stdout, window "bob" } do
      assert.error_matches(function()
        store:take(wrong, "bob")
      end, "weir.limit expected")
    end
    for _, wrong in ipairs { false, "store", {}, window, io.stdout } do
      assert.error_matches(function()
        store.take(wrong, window, "bob")
      end, "weir.store expected")
    end
  end)

  it("can be closed twice, and answers each later verb with an error", function()
    local store = weir.memory()
    store:close()
    store:close()
    for _, verb in ipairs { "take", "peek", "refund", "charge", "reset", "acquire", "renew", "release", "take_all",
      "take_many", "counters", "now_us" } do
      assert.error_matches(function()
        store[verb](store, window, "bob")
      end, "the store is closed")
    end
  end)

  it("is closed when its variable goes out of scope", function()
    local kept
    do
      local store <close> = weir.memory()
      kept = store
    end
    assert.error_matches(function()
      kept:now_us()
    end, "the store is closed")
  end)

  it("is given back when it is collected", function()
    local function mapped_kib()
      for line in io.lines "/proc/self/status" do
        local kib = line:match "^VmSize:%s*(%d+)"
        if kib then
          return tonumber(kib)
        end
      end
    end
    collectgarbage()
    local before = mapped_kib()
    for _ = 1, 50 do
      weir.memory()
    end
    collectgarbage()
    collectgarbage()
    assert.is_true(mapped_kib() - before < 10 * 16 * 1024)
  end)
end)
