--- away_inside: limiters on a Redis server that is away now and then, and the book that is kept of their requests.
--
-- away_inside.open(mode, url)    a limiter with on_error = mode
-- away_inside.ask(mode)          in the access phase: one request of three on a key of its own, one on "one", which
--                                counts all of them, and one on "few", which soon lets none pass
-- away_inside.answered(mode)     in the log phase
-- away_inside.book(mode)         what was counted, by name: asked, and answered with each status; passed, refused and
--                                undecided, in all and by kind, such as "passed few"; the codes of those undecided, by
--                                kind too; foreign, rows that were another request's; late, decisions that took over a
--                                second more than their deadline
-- away_inside.left(mode, kind)   what the server says is left of "one" or "few"

package.preload["resty.redis"] = package.preload["resty.redis"] or function()
  return require "nginx.redis"
end

local ngx = ngx
local weir = require "resty.weir"

local DEADLINE_S, ALLOWANCE_S = 0.1, 1

local away = {}

-- The rows of one kind can't be taken for those of another: their limits are not the same.
local limits = {
  own = weir.fixed_window { name = "own", limit = 2 ^ 30, window = "300d" },
  one = weir.fixed_window { name = "one", limit = 2 ^ 31, window = "300d" },
  few = weir.fixed_window { name = "few", limit = 1000, window = "300d" },
}
local kinds = { "own", "one", "few" }
local stores, limiters = {}, {}

local function count(mode, name)
  return ngx.shared.book:incr(mode .. " " .. name, 1, 0)
end

-- No two requests that are under way together have the same cost, and so the same row.
local function cost_of(number)
  return number % 1000 + 1
end

local function checks_of(mode)
  return function()
    local ctx = ngx.ctx
    local limit = limits[ctx.kind]
    return { ctx.kind == "own" and limit(mode .. ctx.number, cost_of(ctx.number)) or limit(mode) }
  end
end

-- The store, which has the codes of its failures counted: a stand-in for an answer does not tell them.
local function counting(mode, store)
  return setmetatable({
    take = function(_, ...)
      local row, message, code = store:take(...)
      if not row then
        count(mode, code .. " " .. ngx.ctx.kind)
      end
      return row, message, code
    end,
  }, { __index = store })
end

function away.open(mode, url)
  stores[mode] = assert(weir.redis { url = url, timeout = ("%dms"):format(DEADLINE_S * 1000) })
  limiters[mode] = weir.access {
    store = counting(mode, stores[mode]), checks = checks_of(mode), on_error = mode,
  }
end

local function now_s()
  ngx.update_time()
  return ngx.now()
end

local function outcome(row)
  if not row or row.source ~= "store" then
    return "undecided"
  end
  return row.allowed and "passed" or "refused"
end

function away.ask(mode)
  local ctx = ngx.ctx
  ctx.number = count(mode, "asked")
  ctx.kind = kinds[ctx.number % #kinds + 1]
  local from_s = now_s()
  local row = limiters[mode]:decide()
  if now_s() - from_s > DEADLINE_S + ALLOWANCE_S then
    count(mode, "late")
  end
  local came = outcome(row)
  count(mode, came)
  count(mode, came .. " " .. ctx.kind)
  if ctx.kind == "own" and came ~= "undecided" and row.remaining ~= row.limit - cost_of(ctx.number) then
    count(mode, "foreign")
  end
  return limiters[mode]()
end

function away.answered(mode)
  count(mode, "answered " .. ngx.status)
end

function away.book(mode)
  local book = {}
  for _, key in ipairs(ngx.shared.book:get_keys(0)) do
    local name = key:match("^" .. mode .. " (.*)$")
    if name then
      book[name] = ngx.shared.book:get(key)
    end
  end
  return book
end

function away.left(mode, kind)
  return assert(stores[mode]:peek(limits[kind], mode)).remaining
end

return away
