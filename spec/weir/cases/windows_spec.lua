--- Cases of windows and their edges: C133 C135 C137 C138.

local support = require "spec.weir.support"
local weir = require "weir"

local every, times = support.every, support.times
local minute = 60000

support.on_each_store("a window", function(on)
  it("C133 that is fixed lets twice its limit through across an edge, and no more", function()
    local bob = on(weir.fixed_window { name = "C133", limit = 5, window = "1h" })
    assert.equal("A x5 D(60000)", bob:takes(times(6, 59 * minute)))
    assert.equal("A x5 D(3540000)", bob:takes(times(6, 61 * minute)))
  end)

  it("C133 that slides by a counter admits one more at 1:01, where floor(5 x 59/60) + 1 <= 5", function()
    local bob = on(weir.sliding_counter { name = "C133", limit = 5, window = "1h" })
    assert.equal("A x5 D(60000.001)", bob:takes(times(6, 59 * minute)))
    assert.equal("A D(660000.001) x5", bob:takes(times(6, 61 * minute)))
  end)

  it("C133 that slides by a log admits none at 1:01", function()
    local bob = on(weir.sliding_log { name = "C133", limit = 5, window = "1h" })
    assert.equal("A x5 D(3600000)", bob:takes(times(6, 59 * minute)))
    assert.equal("D(3480000) x6", bob:takes(times(6, 61 * minute)))
  end)

  it("C135 is the one of now after a pause", function()
    local bob = on(weir.fixed_window { name = "C135", limit = 30, window = "60s" })
    assert.equal("A x32 D(60000) x30 D(59000) A",
      bob:takes(times(2, 0), times(60, 300000), { 301000, 360000 }))
  end)

  it("C137 of slots forgets what a slot held a ring ago", function()
    for _, slots in ipairs { 1, 2, 5 } do
      local bob = on(weir.sliding_counter { name = "C137 " .. slots, limit = 3, window = "10m", slots = slots })
      assert.equal("A x10", bob:takes(every(20 * minute, 0, 9 * 20 * minute)))
    end
  end)

  it("C138 weighs the window before by its index: at 61 s floor(10 x 59/60) + 1 <= 10 passes once", function()
    local bob = on(weir.sliding_counter { name = "C138", limit = 10, window = "60s" })
    assert.equal("A x10", bob:takes(times(10, 59000)))
    assert.equal("A D(5000.001) x9", bob:takes(times(10, 61000)))
  end)
end)
