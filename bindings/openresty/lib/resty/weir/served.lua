--- served: what the limiters said of each request that is being served, kept until its end.
--
-- served.open(limiter)    its entry for the client's request that runs now, and true when it is new
-- served.find(limiter)    the same; nil when the limiter has not seen the request
-- served.first()          the first of the request's entries, each of which has the `next`; nil when there is none
--
-- They are in ngx.ctx. An internal redirect empties that, and a subrequest has its own, so there they are found again
-- by the number of the client's request. nginx keeps the first ngx.ctx until the request has ended; so the references
-- here are weak, and nothing is left behind whether or not a log phase runs.

local ngx = ngx
local is_internal = ngx.req.is_internal
local var = ngx.var

local by_number = setmetatable({}, { __mode = "v" })

-- No two requests of a worker have the same.
local function number()
  return var.connection .. ":" .. var.connection_requests
end

-- The first entry that the request has, found again where ctx is new.
local function first_of(ctx)
  local first = ctx.weir
  if not first and is_internal() then
    first = by_number[number()]
    ctx.weir = first
  end
  return first
end

local function find(entry, limiter)
  while entry and entry.limiter ~= limiter do
    entry = entry.next
  end
  return entry
end

local served = {}

function served.open(limiter)
  local ctx = ngx.ctx
  local first = first_of(ctx)
  local entry = find(first, limiter)
  if entry then
    return entry, false
  end
  entry = { limiter = limiter, row = false, answered = false, next = false }
  if first then
    entry.next, first.next = first.next, entry
  else
    ctx.weir, by_number[number()] = entry, entry
  end
  return entry, true
end

function served.first()
  return (first_of(ngx.ctx))
end

function served.find(limiter)
  return (find(first_of(ngx.ctx), limiter))
end

return served
