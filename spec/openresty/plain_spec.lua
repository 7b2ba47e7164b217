--- resty.weir in LuaJIT alone, without nginx: every row of the vectors as the C core answers it.

local program = [[
  local weir = require "resty.weir"
  local vectors = require "spec.openresty.support.vectors_inside"
  local store = assert(weir.shared { size = "64MiB" })
  io.write(("%d %d %s"):format(vectors.file(store, arg[1])))
]]

local function run(name)
  local pipe = assert(io.popen(([[
    LUA_PATH="bindings/openresty/lib/?.lua;lua/?.lua;./?.lua;;" LUA_CPATH="build/?.so;;" luajit - %s 2>&1 <<'LUA'
%s
LUA
]]):format(name, program)))
  local said = pipe:read "*a"
  pipe:close()
  return said
end

describe("in LuaJIT without nginx, the vectors in a shared store", function()
  it("are right for one limit and key", function()
    assert.equal("500 30000 ", run "one")
  end)

  it("are right for leases", function()
    assert.equal("120 7200 ", run "leases")
  end)

  it("are right for several limits at once", function()
    assert.equal("250 37560 ", run "all")
  end)
end)
