--- inside: what the tests' nginx needs within, over resty.weir.
--
-- inside.store    a store that its workers share
-- inside.at       the same at the time of the request's header Now
-- inside.hold()   answers when /let_go was asked for
-- inside.call()   one verb of the store, from headers; its rows as JSON

local core = require "resty.weir.core"
local ffi = require "ffi"
local json = require "dkjson"
local store = require "resty.weir.store"

ffi.cdef "int weir_memory_open(weir_store **, const void *, weir_error *);"
local out = ffi.new "weir_store *[1]"
assert(core.lib.weir_memory_open(out, nil, core.error) == 0)

local inside = { store = store.wrap(out[0]) }

local function now()
  return tonumber(ngx.var.http_now)
end

inside.at = setmetatable({
  take_all = function(self, list)
    return inside.store.take_all(self, list, now())
  end,
  release = function(self, limit, key, id)
    return inside.store.release(self, limit, key, id, now())
  end,
}, { __index = inside.store })

local sleep = ngx.sleep

function ngx.sleep(seconds) -- luacheck: ignore
  ngx.header.Slept = seconds
end

function inside.hold()
  while not ngx.shared.flags:get "let_go" do
    sleep(0.002)
  end
  ngx.say "served"
end

function inside.call()
  local limit = limits[ngx.var.http_limit]
  ngx.say(json.encode { inside.store[ngx.var.http_verb](inside.store, limit, ngx.var.http_key) })
end

return inside
