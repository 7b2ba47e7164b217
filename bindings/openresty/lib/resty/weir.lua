--- weir: limits, stores and policies for OpenResty, and for nginx with ngx_lua.
--
-- init_by_lua_block {
--   weir = require "resty.weir"
--   api = weir.access {
--     store = weir.shared { name = "/api" },
--     limits = { weir.token_bucket { name = "api", rate = "100/m", burst = 20 } },
--   }
-- }
-- access_by_lua_block { api() }        # in a location: passes, waits, or answers 429
-- log_by_lua_block { weir.log() }      # in http, so that it runs wherever a request ends
--
-- weir.token_bucket { name, rate, period, burst }   a limit, as a policy makes it; and leaky_bucket, fixed_window,
--                            sliding_log, sliding_counter, min_gap, concurrency. Raises what is wrong, as configuration does
-- limit(key[, cost or id])   a check
-- weir.shared { name = "/api", size = "16MiB" }   a store that the workers share, in memory (resty/weir/shared.lua)
-- weir.redis { url = "redis://limits.example:6379" }   a store in a Redis server (resty/weir/redis.lua)
-- weir.policy { path = "chat.lua" }   a policy (resty/weir/policy.lua)
-- weir.headers               the headers of a decision (resty/weir/headers.lua)
-- weir.access { ... }        a limiter, below
-- weir.log()                 in the log phase: for every limiter that saw the request
-- weir.duration("1m30s")     90000000
-- weir.address(text[, bits]) an address cut to its network; nil and a sentence when it is none
--
-- Parts are loaded when they are first asked for: who uses the shared store alone needs neither resty.redis nor
-- libweir_policy. All may be made in init_by_lua; a Redis store connects at its first call.
--
-- A limiter is made once, of a store and one of these:
--
--   limits = { limit, ... }  under one key; all must pass. `key` is a text with variables, such as "$http_x_api_key", or
--                            a function of the request; unless given, the client's address, of IPv6 its /64
--   checks = function(request)   gives the list of checks, each with its own key and cost
--   policy = policy          decides; its `response` runs in the log phase
--
-- and, as wanted:
--
--   headers = "draft_08"     the form in which clients are told what is left: draft_08, draft_07, draft_06, x_seconds,
--                            x_epoch or none
--   problem = true           a refusal has a body of application/problem+json; else it is nginx's page, or error_page's
--   status = 429             of a refusal
--   max_delay = "5s"         the longest that a leaky bucket may let a request wait. A limit with a longer queue is refused
--                            here; where checks or a policy bring one, the request passes after max_delay, and it is logged
--   on_error = "error"       what a request gets that can't be decided. "error": the status error_status = 503. "deny": a
--                            refusal with 503, to be tried again in a second. "allow": it passes, but only when the store
--                            is away or full; a bad key, a wrong password or a policy that breaks is still an error
--   shadow = true            decides and counts, tells the client nothing and lets all pass; refusals are logged
--   on_refused = function(row, status)   runs before a refusal is answered; it may answer itself, with ngx.say and ngx.exit
--   request = function(fields)   gives the fields that checks, key and policy see, made from those of a log: address, user,
--                            method, path, protocol, referrer, agent, and id, which is unique. What it adds must be text
--                            or a number
--   response = function(fields)   the same for the response of a policy: status, size, request_time
--
-- limiter()                  in access_by_lua (or rewrite, or content): the row when the request may pass. Otherwise it
--                            answers, and does not return. What can't be answered where it was called is nil, message, code
-- limiter:decide()           decides, and answers nothing: a row with `allowed`, `rows`, `binding`, ...; or nil, message, code
-- limiter:log()              in log_by_lua: gives back the request's places in concurrency limits and runs the policy's
--                            response. With Redis that is done a moment later by a timer, for the log phase has no sockets
--
-- A limiter counts a request of a client once, though it is redirected within nginx or makes subrequests; the second call
-- gives the same answer. A place in a concurrency limit is the request's until its log phase, or until its ttl: choose
-- one longer than the longest answer takes.
--
-- A row is { allowed, limit, remaining, retry_after_us, reset_after_us, delay_us, source } by name.

local limit = require "resty.weir.limit"

local parts = {
  shared = function()
    return require("resty.weir.shared").open
  end,
  redis = function()
    return require("resty.weir.redis").open
  end,
  policy = function()
    return require("resty.weir.policy").open
  end,
  access = function()
    return require("resty.weir.access").open
  end,
  log = function()
    return require("resty.weir.access").log
  end,
  headers = function()
    return require "resty.weir.headers"
  end,
}

local weir = {}
for name, word in pairs(limit) do
  weir[name] = word
end
weir._VERSION = require("resty.weir.core").version

return setmetatable(weir, {
  __index = function(self, name)
    local part = parts[name]
    if part then
      self[name] = part()
      return self[name]
    end
  end,
})
