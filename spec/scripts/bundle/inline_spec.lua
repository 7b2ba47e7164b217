-- The inliner: what a script does is what its modules do, and what cannot be inlined is refused by name.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local inline = require "bundle.inline"
local sha1 = require "bundle.sha1"

local function script(files)
  return inline.script("entry", function(name)
    return assert(files[name], name)
  end)
end

local function run(files)
  return assert(load(script(files)))()
end

local function refusal(files)
  local fine, message = pcall(script, files)
  assert.is_false(fine)
  return message
end

local half = [[
return function(number)
  if number % 2 == 0 then
    return number / 2, true
  end
  return nil, false
end]]

describe("the inliner", function()
  it("writes a module in place of a call, with all that it answers", function()
    local text = script { entry = 'local half = require "half"\nlocal a, b = half(10)\nreturn a, b', half = half }
    assert.is_nil(text:find("function", 1, true))
    assert.are.same({ 5, true }, { load(text)() })
  end)

  it("makes nil of what an early return leaves out", function()
    assert.are.same({ false, "odd" }, { run {
      entry = 'local half = require "half"\nlocal a, b = 1, 2\na, b = half(3)\nreturn b, a or "odd"', half = half,
    } })
    assert.are.same({ 3 }, { run {
      entry = 'local first = require "first"\nlocal a, b = 1, 2\na, b = first(3)\nreturn a, b',
      first = "return function(number) return number end",
    } })
  end)

  it("keeps names of the caller and of the module apart", function()
    assert.are.same({ 7, 12, 3 }, { run {
      entry = 'local sum = require "sum"\nlocal total, a, b = 0, 3, 4\ntotal = sum(a, b)\nlocal more = sum(b, total + 1)\nreturn total, more, a',
      sum = "return function(b, a)\n  local total = a\n  total = total + b\n  return total\nend",
    } })
  end)

  it("does not change a caller's variable that the module assigns to", function()
    assert.are.same({ 5, 1 }, { run {
      entry = 'local up = require "up"\nlocal n = 1\nlocal m = up(n)\nreturn m, n',
      up = "return function(number)\n  number = number + 4\n  return number\nend",
    } })
  end)

  it("inlines what modules call, also in loops and as what is returned", function()
    assert.are.equal(8, run {
      entry = 'local twice = require "twice"\nlocal n = 1\nfor _ = 1, 3 do\n  n = twice(n)\nend\nreturn n',
      twice = 'local add = require "add"\nreturn function(n)\n  return add(n, n)\nend',
      add = "return function(a, b)\n  return a + b\nend",
    })
  end)

  it("leaves functions inside a module their returns, and fields and keys their names", function()
    assert.are.same({ 6, 5 }, { run {
      entry = 'local make = require "make"\nlocal a = { n = 5 }\nlocal r = make(a)\nreturn r.a, r.n',
      make = "return function(t)\n  local function plus(n)\n    return n + 1\n  end\n  local a = plus(t.n)\n  return { a = a, n = t.n }\nend",
    } })
  end)

  it("puts a module's locals at the top of the script, once", function()
    local text = script {
      entry = 'local a = require "a"\nlocal b = require "b"\nlocal x = a(1)\nlocal y = b(2)\nreturn x + y',
      a = "local floor = math.floor\nreturn function(n) return floor(n) end",
      b = "local floor = math.floor\nreturn function(n) return floor(n) end",
    }
    local _, count = text:gsub("math%.floor", "")
    assert.are.equal(1, count)
    assert.are.equal(3, load(text)())
  end)

  it("gives the same bytes each time", function()
    local files = { entry = 'local half = require "half"\nlocal number, a = 4, 0\na, number = half(number)\nreturn a', half = half }
    assert.are.equal(script(files), script(files))
  end)

  it("refuses what cannot be inlined", function()
    local function with(entry, module)
      return refusal { entry = 'local m = require "m"\n' .. entry, m = module or "return function(n) return n end" }
    end
    assert.is_truthy(with("return 1 + m(2)"):find("not a statement of its own", 1, true))
    assert.is_truthy(with("local x = m(2) + 1"):find("not a statement of its own", 1, true))
    assert.is_truthy(with("local x = m"):find("can only be called", 1, true))
    assert.is_truthy(with("local x = m(2)", "return function(n)\n  while true do\n    return n\n  end\nend"):find("inside a loop", 1, true))
    assert.is_truthy(with("local x = m(2)", "return { 1 }"):find("return function", 1, true))
    assert.is_truthy(with("m(2)"):find("its answer is not used", 1, true))
    assert.is_truthy(with("local redis = m(2)"):find("hides what other code means", 1, true))
    assert.is_truthy(with("local n = 1\nlocal n = m(n)"):find("one of its arguments", 1, true))
    assert.is_truthy(with("local x = m(2)", 'local m = require "m"\nreturn function(n)\n  return m(n)\nend'):find("requires itself", 1, true))
  end)
end)

describe("sha1", function()
  it("is what it should be of texts of every length around a block", function()
    assert.are.equal("da39a3ee5e6b4b0d3255bfef95601890afd80709", sha1 "")
    assert.are.equal("a9993e364706816aba3e25717850c26c9cd0d89d", sha1 "abc")
    assert.are.equal("84983e441c3bd26ebaae4aa1f95129e5e54670f1", sha1 "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
    for _, size in ipairs { 54, 55, 56, 63, 64, 65, 119, 120 } do
      local pipe = io.popen(("printf '%%%ds' '' | sha1sum"):format(size))
      assert.are.equal(pipe:read("*l"):sub(1, 40), sha1((" "):rep(size)))
      pipe:close()
    end
  end)
end)
