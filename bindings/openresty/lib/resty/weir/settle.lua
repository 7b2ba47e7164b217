--- settle: gives back at a request's end what it held, and runs the policy's response.
--
-- settle(entry)   in the log phase. Does it once; with a store that needs sockets, by a timer (later.lua). What fails
--                 is logged: the client has had its answer

local fields = require "resty.weir.fields"
local later = require "resty.weir.later"
local ngx = ngx

local response_variables = fields.variables(fields.response)

local function log(what, message, code)
  ngx.log(ngx.ERR, "weir: ", what, ": ", message, code and " (" .. code .. ")" or "")
end

-- Gives back what one request holds, each thing by itself: one that fails leaves the others alone.
local function do_work(work)
  for _, place in ipairs(work.places or {}) do
    local row, message, code = work.store:release(place[1], place[2], place[3], nil, place.tag)
    if not row then
      log("a place could not be given back", message, code)
    end
  end
  if work.policy then
    local done, message, code = work.policy:respond(work.store, work.request, work.response, work.allowed)
    if not done then
      log("a response could not be settled", message, code)
    end
  end
end

-- What is to be done at the end of a request. All that it needs of the request is in it, for a timer knows none.
local function work_of(entry)
  local self = entry.limiter
  local work = { store = self.store, places = entry.places }
  if entry.responds and (entry.row.allowed or self.shadow) then
    work.policy, work.request, work.allowed = self.policy, entry.request, entry.row.allowed
    work.response = fields.table(response_variables, "response")
    if self.response then
      work.response = self.response(work.response)
    end
  end
  return (work.places or work.policy) and work
end

return function(entry)
  if entry.settled or not (entry.places or entry.responds) then
    return
  end
  entry.settled = true
  local ran, work = pcall(work_of, entry)
  if not ran then
    return log("a response could not be settled", tostring(work))
  end
  if not work then
    return
  end
  if entry.limiter.store.in_memory then
    return do_work(work)
  end
  return later.run(do_work, work)
end
