--- access: one call in the access phase decides, waits, tells the client and refuses; one in the log phase gives back.
--
-- access.open(options)   a limiter; raises what is wrong with the options. They are told in resty/weir.lua
-- limiter(), limiter:decide(), limiter:log()    as told there
-- access.log()           limiter:log() of every limiter that saw the request
--
-- A limiter keeps nothing of a request, so one that is made at init serves all: see served.lua.

local answer = require "resty.weir.answer"
local ask = require "resty.weir.ask"
local ngx = ngx
local read_options = require "resty.weir.access_options"
local served = require "resty.weir.served"
local settle = require "resty.weir.settle"

local Limiter = {}
Limiter.__index = Limiter

-- Where a request can wait, be answered, and be known.
local phases = { rewrite = true, server_rewrite = true, access = true, content = true }

-- A store that can't be asked now, which is what on_error = "allow" is for. What somebody has to mend never passes.
local outages = {
  WEIR_FULL = true,
  WEIR_INDETERMINATE = true,
  WEIR_NOT_EXECUTED = true,
  WEIR_LOADING = true,
  WEIR_BUSY = true,
  WEIR_READONLY = true,
  WEIR_SERVER_FULL = true,
}

-- The places of a request may be held though the answer was such an error.
local doubtful = { WEIR_INDETERMINATE = true, WEIR_PROTOCOL = true }

local PASSED, REFUSED = "a request passed undecided", "a request was refused undecided"

local function tell(level, what, message, code)
  ngx.log(level, "weir: ", what, ": ", message, code and " (" .. code .. ")" or "")
end

local function wrong_phase()
  return nil, ("a limiter was called in the phase %s; it must be rewrite, access or content, and log for log()"):format(
    ngx.get_phase()), "WEIR_INVALID"
end

-- What on_error asks for in place of an answer of the store.
local function stand_in(self, message, code)
  local allowed = self.on_error == "allow" and outages[code] == true
  if not allowed and self.on_error ~= "deny" then
    tell(ngx.ERR, "a request could not be decided", message, code)
    return nil, message, code
  end
  tell(ngx.ERR, allowed and PASSED or REFUSED, message, code)
  return {
    allowed = allowed,
    limit = 0,
    remaining = 0,
    retry_after_us = allowed and 0 or 1000000,
    reset_after_us = 0,
    delay_us = 0,
    source = allowed and "allow_on_error" or "deny_on_error",
    rows = {},
  }
end

-- What the limiter says of the request, asked for once.
local function decide(self)
  local entry, is_new = served.open(self)
  if not is_new then
    return entry
  end
  local ran, row, message, code = pcall(ask, self, entry)
  if not ran then
    row, message, code = nil, tostring(row), "WEIR_INVALID"
  end
  local decided = row and (row.source or "store") == "store"
  if entry.places and not (row and row.allowed or doubtful[code]) then
    entry.places = nil
  end
  if entry.responds then
    entry.responds = decided
  end
  if not row then
    row, message, code = stand_in(self, message, code)
  elseif not decided then
    local what = (row.allowed or self.shadow) and PASSED or REFUSED
    tell(ngx.ERR, what, row.message or "the store could not be asked", row.code)
  end
  if row then
    entry.row = row
  else
    entry.message, entry.code = message, code
  end
  return entry
end

local function said(entry)
  if entry.row then
    return entry.row
  end
  return nil, entry.message or "the limiter is deciding this request already", entry.code or "WEIR_INVALID"
end

function Limiter:decide()
  if not phases[ngx.get_phase()] then
    return wrong_phase()
  end
  return said(decide(self))
end

local function wait(self, delay_us)
  if delay_us > self.max_delay_us then
    tell(ngx.WARN, "a request waited for max_delay alone", ("its turn was in %.0f us"):format(delay_us))
    delay_us = self.max_delay_us
  end
  if delay_us >= 1000 then
    ngx.sleep(delay_us / 1e6)
  end
end

function Limiter:__call()
  if not phases[ngx.get_phase()] then
    return wrong_phase()
  end
  local entry = decide(self)
  if entry.answered then
    return said(entry)
  end
  entry.answered = true
  local row = entry.row
  if self.shadow then
    if row and not row.allowed then
      tell(ngx.NOTICE, "a request would have been refused", answer.reason(row, entry.checks or self.limits))
    end
    return said(entry)
  end
  if ngx.headers_sent then
    return nil, "a limiter was called after the answer had begun; it must be called before", "WEIR_INVALID"
  end
  if not row then
    return answer.fail(self)
  end
  local told = answer.tell(self, row, entry.checks or self.limits)
  if not row.allowed then
    return answer.refuse(self, row, told)
  end
  wait(self, row.delay_us or 0)
  return row
end

-- A subrequest's end is not that of the client's request.
function Limiter:log()
  if ngx.get_phase() ~= "log" then
    return wrong_phase()
  end
  local entry = not ngx.is_subrequest and served.find(self)
  if entry then
    settle(entry)
  end
  return true
end

local access = {}

function access.open(given)
  local read, message = read_options(given)
  if not read then
    error("access: " .. message, 2)
  end
  return setmetatable(read, Limiter)
end

function access.log()
  if ngx.get_phase() ~= "log" then
    return wrong_phase()
  end
  local entry = not ngx.is_subrequest and served.first()
  while entry do
    settle(entry)
    entry = entry.next
  end
  return true
end

return access
