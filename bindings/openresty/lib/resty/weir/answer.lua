--- answer: what a client is told of the decision on its request.
--
-- answer.tell(limiter, row, limits)   sets the headers; gives what a refusal is answered with: { status, body,
--                                     content_type }. `limits` are those of the rows, or their checks
-- answer.refuse(limiter, row, told)   ends the request with it
-- answer.fail(limiter)                ends a request that could not be decided
-- answer.reason(row, limits)          why it was refused, for a log

local headers = require "resty.weir.headers"
local ngx = ngx

local answer = {}

-- The clock that nginx keeps for a turn is first brought up to date.
local function now_us(store)
  if store.now_us then
    return store:now_us()
  end
  ngx.update_time()
  return math.floor(ngx.now() * 1e6)
end

-- Without a row that binds there is no limit to tell of: the policy itself decided, or nobody did.
local function make(limiter, row, limits)
  local options = { form = limiter.form, body = limiter.problem }
  if limiter.form == "x_epoch" then
    options.now_us = now_us(limiter.store)
  end
  if row.binding then
    return headers.of(limits, row, row.rows, options)
  end
  return headers.of({}, row, nil, options)
end

-- What can't be told changes nothing of the decision.
function answer.tell(limiter, row, limits)
  local ran, told, message = pcall(make, limiter, row, limits)
  if not ran or not told then
    ngx.log(ngx.ERR, "weir: the headers could not be made: ", tostring(message or told))
    told = { status = 429, headers = { ["Cache-Control"] = not row.allowed and "no-store" or nil } }
  end
  if row.source == "deny_on_error" then
    told.status, told.headers["Retry-After"] = 503, told.headers["Retry-After"] or 1
  end
  for name, value in pairs(told.headers) do
    ngx.header[name] = value
  end
  return told
end

function answer.reason(row, limits)
  if not row.binding then
    return row.reason or "by the policy's own word"
  end
  local limit = limits[row.binding]
  return ("by %q"):format((limit.name or limit[1].name))
end

-- Ends the request with a body, or with nginx's own page for the status, which error_page may replace.
local function finish(status, body, content_type)
  if not body then
    return ngx.exit(status)
  end
  ngx.status = status
  ngx.header["Content-Type"] = content_type
  ngx.header["Content-Length"] = #body
  ngx.print(body)
  return ngx.exit(status)
end

function answer.refuse(limiter, row, told)
  local status = told.status == 429 and limiter.status or told.status
  if limiter.on_refused then
    local ran, message = pcall(limiter.on_refused, row, status)
    if not ran then
      ngx.log(ngx.ERR, "weir: on_refused: ", tostring(message))
    end
  end
  return finish(status, told.body, told.content_type)
end

function answer.fail(limiter)
  ngx.header["Cache-Control"] = "no-store"
  return finish(limiter.error_status)
end

return answer
