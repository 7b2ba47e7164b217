--- weir: limits, stores and policies for OpenResty, and for nginx with ngx_lua.
--
-- init_by_lua_block {
--   weir = require "resty.weir"
--   api = weir.access {
--     store = assert(weir.shared { name = "/api" }),
--     limits = { weir.token_bucket { name = "api", rate = "100/m", burst = 20 } },
--   }
-- }
-- access_by_lua_block { api() }        # in a location: the request passes, waits, or is answered with 429
-- log_by_lua_block { weir.log() }      # in http, so that it runs wherever a request ends
--
-- weir.token_bucket { name, rate, period, burst }   a limit, as a policy makes it; and leaky_bucket, fixed_window,
--                            sliding_log, sliding_counter, min_gap, concurrency. Raises what is wrong with it
-- limit(key[, cost or id])   a check
-- weir.shared { name = "/api", size = "16MiB" }    a store in memory that the workers share (shared.lua)
-- weir.redis { url = "redis://limits.example" }    a store in a Redis server (redis.lua)
-- weir.policy { path = "chat.lua" }    a policy (policy.lua)
-- weir.headers               the headers of a decision (headers.lua)
-- weir.access { ... }        a limiter, below. Raises what is wrong with it
-- weir.log()                 in the log phase: does what log() below does, for every limiter that saw the request
-- weir.duration("1m30s")     90000000
-- weir.address(text[, bits]) an address cut to its network; nil and a sentence when it is none
--
-- What opens a store or a policy, and every verb of theirs, answers nil, message, code when it fails. Parts are loaded
-- when they are first asked for: who has no Redis needs no resty.redis, who has no policy needs no libweir_policy. All
-- of it may be done in init_by_lua; a Redis store connects at its first call.
--
-- A limiter is made once, of a store and one of these:
--
--   limits = { limit, ... }    under one key, and all must pass. `key` is a text with variables, such as
--                            "$http_x_api_key", or a function; unless given, the client's address, of IPv6 its /64
--   checks = function(request)    gives a list of checks, each with its own key and cost. A request has the fields of a
--                            log: address, user, method, path, protocol, referrer, agent
--   policy = policy          decides, and its response runs in the log phase
--
-- and, as wanted:
--
--   headers = "draft_08"     how clients are told what is left: also draft_07, draft_06, x_seconds, x_epoch, none
--   problem = true           a refusal has a body for programs, application/problem+json; else nginx's page
--   status = 429             of a refusal
--   max_delay = "5s"         the longest that a leaky bucket may let a request wait. A limit whose queue is longer is a
--                            mistake; one from checks or a policy passes after max_delay, which is logged
--   on_error = "error"       what a request gets that can't be decided. "error": 503, or error_status. "deny": 503 as a
--                            refusal, to be tried again in a second. "allow": it passes, but only while the store is
--                            away or full; a missing key, a wrong password and a broken policy are errors still
--   error_status = 503
--   on_refused = function(row, status)    runs before a refusal is answered; it may answer itself with ngx.exit
--   shadow = true            decides and counts, tells clients nothing and lets all pass; refusals are logged
--   request = function(fields)    with a policy: gives the fields that it sees, from those that it would see
--   response = function(fields)   the same for its response: status and size, as in a log
--
-- limiter()                  in access_by_lua, or rewrite or content: the row, when the request may pass. Else it
--                            answers, and does not return. Where nothing can be answered: nil, message, code
-- limiter:decide()           answers nothing itself: the row, with `allowed`, `rows` and `binding`; or nil, message,
--                            code
-- limiter:log()              in log_by_lua: gives back the request's places in concurrency limits, and runs the
--                            policy's response. With Redis a timer does that: the log phase has no sockets
--
-- A limiter counts a client's request once, though nginx redirects it within or it asks for others itself; a second
-- call has the first one's answer. Two limiters count it each: limits that must pass together belong in one.
--
-- A place in a concurrency limit is the request's until it ends, or its ttl is over: let that be longer than any answer
-- takes. nginx ends a request whose client has gone when it proxies, and elsewhere with lua_check_client_abort. A
-- policy's places are its own: its response releases them.
--
-- A row is { allowed, limit, remaining, retry_after_us, reset_after_us, delay_us, source } by name.

local core = require "resty.weir.core"
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
weir._VERSION = core.version

return setmetatable(weir, {
  __index = function(self, name)
    local part = parts[name]
    if part then
      self[name] = part()
      return self[name]
    end
  end,
})
