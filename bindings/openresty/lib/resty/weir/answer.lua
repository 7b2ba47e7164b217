--- answer: what a client is told of the decision on its request.
--
-- answer.tell(limiter, row, limits)   sets the headers; of a refusal gives what it is answered with: { status, body,
--                                     content_type }. `limits` are those of the rows, or their checks
-- answer.refuse(limiter, row, told)   ends the request with it
-- answer.fail(limiter)                ends a request that could not be decided
-- answer.reason(row, limits)          why it was refused, for a log

local each = require "resty.weir.each"
local ffi = require "ffi"
local headers_c = require "resty.weir.headers_c"
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

local no_limits = {}

local function set(i, made)
  local header = made.list[i - 1]
  ngx.header[ffi.string(header.name)] = ffi.string(header.value, header.value_size)
  return true
end

-- Without a row that binds there is no limit to tell of: the policy itself decided, or nobody did.
local function make(limiter, row, limits)
  local settings = limiter.settings
  if limiter.form == "x_epoch" then
    settings.c.now_us = now_us(limiter.store)
  end
  local made, message
  if row.binding then
    made, message = headers_c.fill(limits, row, row.rows, settings)
  else
    made, message = headers_c.fill(no_limits, row, nil, settings)
  end
  if not made then
    return nil, message
  end
  each(1, tonumber(made.count), set, made)
  if row.allowed then
    return true
  end
  local told = { status = made.status }
  if made.body ~= nil then
    told.body, told.content_type = ffi.string(made.body, made.body_size), ffi.string(made.content_type)
  end
  return told
end

-- What can't be told changes nothing of the decision.
function answer.tell(limiter, row, limits)
  if row.allowed and limiter.form == "none" then
    return true
  end
  local ran, told, message = pcall(make, limiter, row, limits)
  if not ran or not told then
    ngx.log(ngx.ERR, "weir: the headers could not be made: ", tostring(message or told))
    told = { status = 429 }
    if not row.allowed then
      ngx.header["Cache-Control"] = "no-store"
    end
  end
  if row.source == "deny_on_error" and not row.allowed then
    told.status = 503
    ngx.header["Retry-After"] = ngx.header["Retry-After"] or 1
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
