--- inside: what the tests' nginx needs within, over resty.weir.
--
-- inside.store    a store that its workers share, and those that come after a reload; a test may put another there
-- inside.at       the same at the time of the request's header Now
-- inside.vectors  vectors_inside.lua
-- inside.tell_waits()    from now on nobody waits: the time is told in the header Slept
-- inside.hold()   answers when /let_go was asked for
-- inside.call()   what a verb of the store answers, as JSON, from the headers Verb, Limit (its name in inside.limits)
--                 or Described (as JSON), Key, Cost or Id, and Now

local json = require "dkjson"
local vectors = require "spec.openresty.support.vectors_inside"
local weir = require "resty.weir"

local store = assert(weir.shared { path = ngx.config.prefix() .. "store", size = "64MiB" })

local inside = { store = store, json = json, vectors = vectors }

local function now()
  return tonumber(ngx.var.http_now)
end

inside.at = setmetatable({
  now_us = now,
  take = function(self, limit, key, cost)
    return store.take(self, limit, key, cost, now())
  end,
  take_all = function(self, list)
    return store.take_all(self, list, now())
  end,
  release = function(self, limit, key, id)
    return store.release(self, limit, key, id, now())
  end,
}, { __index = store })

local sleep = ngx.sleep

function inside.tell_waits()
  ngx.sleep = function(seconds) -- luacheck: ignore
    ngx.header.Slept = seconds
  end
end

function inside.hold()
  while not ngx.shared.flags:get "let_go" do
    sleep(0.002)
  end
  ngx.say "served"
end

function inside.call()
  local var = ngx.var
  local limit = var.http_limit and inside.limits[var.http_limit] or vectors.limit(var.http_described)
  local cost = var.http_cost and tonumber(var.http_cost) or var.http_id
  ngx.header.Worker = ngx.worker.pid()
  local asked = inside.store
  ngx.say(json.encode { asked[var.http_verb](asked, limit, var.http_key, cost, now()) })
end

return inside
