--- served: what the limiters said of each request that is being served, kept until its end.
--
-- served.open(limiter)    its entry for the client's request that runs now, and true when it is new
-- served.find(limiter)    the same; nil when the limiter has not seen the request
-- served.first()          the first of the request's entries, each of which but the last has the `next`; or nil
--
-- They are in ngx.ctx. An internal redirect empties that, and a subrequest has its own, so there they are found again
-- by the connection and the number of the client's request. nginx keeps the first ngx.ctx until the request has ended;
-- so the references here are weak, and nothing is left behind whether or not a log phase runs.

local ngx = ngx
local is_internal = ngx.req.is_internal
local var = ngx.var

-- By connection the first entry of its newest request, which before HTTP/2 is the only one that runs. Of connections
-- that serve several at once it has no number, and the first entry of each is here by connection and number too.
local newest = setmetatable({}, { __mode = "v" })

local one_at_a_time = { ["HTTP/1.0"] = true, ["HTTP/1.1"] = true }

local function keep(entry)
  local connection, number = var.connection, var.connection_requests
  local before = newest[connection]
  local is_only = before and before.number or not before and one_at_a_time[var.server_protocol]
  if is_only then
    entry.number = number
  else
    newest[connection .. ":" .. number] = entry
  end
  newest[connection] = entry
end

local function find_again()
  local connection, number = var.connection, var.connection_requests
  local entry = newest[connection]
  if entry and entry.number then
    return entry.number == number and entry or nil
  end
  return newest[connection .. ":" .. number]
end

-- The first entry that the request has, found again where ctx is new.
local function first_of(ctx)
  local first = ctx.weir
  if not first and is_internal() then
    first = find_again()
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
  entry = { limiter = limiter, row = false, answered = false, number = false }
  if first then
    entry.next, first.next = first.next, entry
  else
    ctx.weir = entry
    keep(entry)
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
