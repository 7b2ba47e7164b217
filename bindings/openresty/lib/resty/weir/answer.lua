--- answer: what a client is told of the decision on its request.
--
-- answer.tell(limiter, row, checks)   sets the headers; gives what a refusal is answered with: { status, body, content_type }
-- answer.refuse(limiter, row, told)   ends the request with it
-- answer.fail(limiter)                ends a request that could not be decided
-- answer.reason(row, checks)          why it was refused, for a log

local headers = require "resty.weir.headers"
local ngx = ngx

local answer = {}

-- A policy may have refused without a check; a list of checks that was wrong is not told.
local function make(limiter, row, checks)
  limiter.told.now_us = limiter.told.form == "x_epoch" and limiter.store:now_us() or nil
  if checks and row.binding then
    return headers.of(checks, row, row.rows, limiter.told)
  end
  return headers.of({}, row, nil, limiter.told)
end

-- What can't be told changes nothing of the decision.
function answer.tell(limiter, row, checks)
  local told, message, code = make(limiter, row, checks)
  if not told then
    ngx.log(ngx.ERR, "weir: the headers could not be made: ", message, " (", code, ")")
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

function answer.reason(row, checks)
  local binding = row.rows[row.binding]
  local name = row.binding and (checks and checks[row.binding][1].name or binding.name)
  return name and ("by %q"):format(name) or row.reason or "by the policy"
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
