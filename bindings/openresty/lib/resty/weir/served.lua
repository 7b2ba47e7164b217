--- served: what the limiters said of each request that is being served, kept until its end.
--
-- served.here()   the entries of the client's request that runs now, a table by limiter
-- served.seen()   the same; nil when no limiter has seen it
--
-- They are in ngx.ctx. An internal redirect empties that, and a subrequest has its own, so they are found again by the
-- number of the client's request. nginx keeps the first ngx.ctx until the request has ended; so the references here are
-- weak, and nothing is left behind whether or not a log phase runs.

local ngx = ngx
local var = ngx.var

local by_number = setmetatable({}, { __mode = "v" })

-- No two requests of a worker have the same.
local function number()
  return var.connection .. ":" .. var.connection_requests
end

local served = {}

function served.seen()
  local ctx = ngx.ctx
  local entries = ctx.weir
  if not entries then
    entries = by_number[number()]
    ctx.weir = entries
  end
  return entries
end

function served.here()
  local entries = served.seen()
  if not entries then
    entries = {}
    ngx.ctx.weir, by_number[number()] = entries, entries
  end
  return entries
end

return served
