--- resty.weir.shared: a store that workers share, opened before they are forked or by name.

local nginx = require "openresty.support.nginx"
local socket = require "socket"

-- Mappings outlive nginx, so this run's have names that no other has.
local NAME = ("/spec%d"):format(socket.gettime() * 1e6)

local HTTP = ([[
init_by_lua_block {
  shared, weir = require "resty.weir.shared", require "resty.weir.limit"
  NAME = "%s"
  inherited = assert(shared.open {})
  limit = weir.fixed_window { name = "spec", limit = 100, window = "400d" }
}
]]):format(NAME)

local SERVER = [[
location = /run {
  content_by_lua_block {
    local words = { assert(loadstring(ngx.unescape_uri(ngx.var.args)))() }
    for i = 1, table.maxn(words) do
      words[i] = tostring(words[i])
    end
    ngx.print(table.concat(words, " "))
  }
}
]]

describe("resty.weir.shared", function()
  local server

  setup(function()
    server = nginx.start { workers = 2, http = HTTP, server = SERVER }
  end)

  teardown(function()
    server:stop()
  end)

  local function run(code)
    local status, body = server:get("/run?" .. code:gsub("[^%w]", function(byte)
      return ("%%%02X"):format(byte:byte())
    end))
    assert(status == 200, server:log())
    return body
  end

  it("gives all workers the store that init_by_lua opened", function()
    local workers, remaining = {}, 100
    nginx.until_true(function()
      local pid, left = run("return ngx.worker.pid(), inherited:take(limit, 'inherited').remaining"):match "(%d+) (%d+)"
      remaining = remaining - 1
      assert.equal(remaining, tonumber(left))
      workers[#workers + 1] = workers[pid] == nil and pid or nil
      workers[pid] = true
      return #workers == 2 or remaining == 0
    end, "one worker serves all")
    assert.equal(2, #workers)
  end)

  it("opens by name what another opened, until the name is removed", function()
    local take = [[ return shared.open({ name = NAME, size = "1MiB" }):take(limit, "named").remaining ]]
    assert.equal("99", run(take))
    assert.equal("98", run(take))
    assert.equal("true", run "return shared.remove { name = NAME }")
    assert.equal("99", run(take))
    assert.equal("true", run "return shared.remove { name = NAME }")
  end)

  it("checks that the table is sound and accounts for it", function()
    assert.equal("true true 0 true", run [[
      inherited:take(limit, "checked")
      local report = inherited:check()
      return report.keys >= 1, report.free_bytes <= report.side_bytes, report.deaths, report.settled
    ]])
  end)

  it("opens what has no name before the workers are forked only", function()
    assert.equal("nil name is missing, and path; only a store that init_by_lua opens may be without WEIR_INVALID",
      run "return shared.open {}")
  end)

  it("answers that a limit is missing, and does not raise", function()
    assert.equal("nil limit was nil; it must be a limit, which weir.token_bucket and the others make WEIR_INVALID",
      run "return inherited:take(nil, 'key')")
  end)

  local wrong = {
    { '{ name = "" }', 'name was ""; it must be text' },
    { '{ path = 5 }', "path was 5; it must be text" },
    { '{ name = NAME, size = "16MB" }', 'size was "16MB"; it must be a size such as "16MiB" (KiB, MiB, GiB) or bytes' },
    { "{ name = NAME, size = 0 }", 'size was 0; it must be a size such as "16MiB" (KiB, MiB, GiB) or bytes' },
    { "{ name = NAME, side = -1 }", 'side was -1; it must be a size such as "16MiB" (KiB, MiB, GiB) or bytes' },
    { '{ name = NAME, mode = "600x" }', 'mode was "600x"; it must be octal text such as "0600"' },
    { '{ name = NAME, owner = "no such" }', 'owner was "no such"; it must be a user of this system' },
    { '{ name = NAME, group = "no such" }', 'group was "no such"; it must be a group of this system' },
    { '{ name = NAME, misfit = "mend" }', 'misfit was "mend"; it must be "refuse" or "rebuild"' },
    { "{ nme = NAME }", "nme is no option; the options are name, path, size, side, mode, owner, group, misfit" },
    { "NAME", ('options was "%s"; it must be a table such as { name = "/api" }'):format(NAME) },
  }

  for _, case in ipairs(wrong) do
    it("answers what is wrong with " .. case[1], function()
      assert.equal("nil " .. case[2] .. " WEIR_INVALID", run("return shared.open(" .. case[1] .. ")"))
    end)
  end
end)
