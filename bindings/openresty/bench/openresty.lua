-- What weir costs in nginx: a call beside lua-resty-limit-traffic's, and requests a second beside none.
--
-- lua5.4 bindings/openresty/bench/openresty.lua [ROUNDS]
--
-- WEIR_LIMIT_TRAFFIC names the lib folder of lua-resty-limit-traffic; without it that comparison is left out. Ratios
-- are of rounds in which both ran, one after the other, and the median of those.

package.path = "spec/?.lua;" .. package.path

local nginx = require "openresty.support.nginx"

local rounds = tonumber(arg[1] or 11)
local peer = os.getenv "WEIR_LIMIT_TRAFFIC" or ""

-- Each dict holds a million keys with room to spare, which take 32 bytes in ours and 128 in the other.
local HTTP = ([[
lua_shared_dict weir 64m;
lua_shared_dict take 64m;
lua_shared_dict peer 256m;
keepalive_requests 100000000;
init_by_lua_block {
  package.path = "%s/?.lua;%s/bindings/openresty/bench/?.lua;" .. package.path
  local weir = require "resty.weir"
  local store = assert(require("resty.weir.dict").store "weir")
  local limit = weir.token_bucket { name = "access", rate = "1000000000/s" }
  limiter, log = weir.access { store = store, limits = { limit } }, weir.log
  quiet = weir.access { store = store, limits = { limit }, headers = "none" }

  function admit()
    local row = store:take(limit, ngx.var.binary_remote_addr)
    if not row or not row.allowed then
      return ngx.exit(row and 429 or 500)
    end
  end
}
]]):format(peer, io.popen("pwd"):read "l")

-- LuaJIT compiles a function whole, to the row that is never made; a block itself is a vararg function, which it leaves
-- to its interpreter.
local SERVER = [[
location = /loops { content_by_lua_block { ngx.print(require("loops").run()) } }
location /none { alias page/; }
location /empty { access_by_lua_block { } alias page/; }
location /take { access_by_lua_block { return admit() } alias page/; }
location /quiet { access_by_lua_block { quiet() } alias page/; }
location /access { access_by_lua_block { limiter() } log_by_lua_block { log() } alias page/; }
]]

local function requests_a_second(server, path)
  local pipe = assert(io.popen(("wrk -t1 -c16 -d1s http://127.0.0.1:%d%s/page.html"):format(server.port, path)))
  local text = pipe:read "a"
  pipe:close()
  assert(not text:find "Non-2xx", text)
  return assert(tonumber(text:match "Requests/sec:%s+([%d.]+)"), text)
end

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

local function write_page(server)
  assert(os.execute(("mkdir %s/page && chmod -R a+rX %s"):format(server.folder, server.folder)))
  local file = assert(io.open(server.folder .. "/page/page.html", "w"))
  file:write(("a page of one kibibyte\n"):rep(45):sub(1, 1024))
  file:close()
end

local cases = {
  { path = "/empty", name = "an empty access_by_lua", target = "" },
  { path = "/take", name = "store:take", target = ", at least 0.900" },
  { path = "/quiet", name = "weir.access, no headers", target = ", at least 0.900" },
  { path = "/access", name = "weir.access, headers, log", target = "" },
}

local function measure_requests(server)
  write_page(server)
  local absolute = {}
  for round = 1, rounds do
    local none = requests_a_second(server, "/none")
    absolute[round] = none
    for _, case in ipairs(cases) do
      case.ratios = case.ratios or {}
      case.ratios[round] = requests_a_second(server, case.path) / none
    end
  end
  print(("a page of 1 KiB by one worker (without a limiter: %.0f requests a second)"):format(median(absolute)))
  for _, case in ipairs(cases) do
    print(("  %-26s %.3f of those%s"):format(case.name, median(case.ratios), case.target))
  end
end

local function with_server(measure)
  local server = nginx.start { workers = 1, http = HTTP, server = SERVER }
  measure(server)
  server:stop()
  os.execute "rm -f /dev/shm/weir-weir-* /dev/shm/weir-take-*"
end

with_server(function(server)
  local status, text = server:get "/loops"
  assert(status == 200, server:log())
  print(text)
end)
with_server(measure_requests)
