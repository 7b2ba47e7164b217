--- redis_inside: runs what a test asks for inside nginx, on stores that are opened once a worker.
--
-- The header Lua holds the code, in whose reach are `weir`, the words that make limits, open(options), and `limit`, one
-- of each algorithm by its name; what it returns is answered as JSON.

package.preload["resty.redis"] = package.preload["resty.redis"] or function()
  return require "nginx.redis"
end

local json = require "dkjson"
local redis = require "resty.weir.redis"
local weir = require "resty.weir.limit"

local inside = {}

local function keep(make)
  local kept = {}
  return function(options)
    local name = json.encode(options, { keyorder = { "url" } })
    kept[name] = kept[name] or assert(make(options))
    return kept[name]
  end
end

local reach = setmetatable({
  weir = weir,
  open = keep(redis.open),
  limit = {
    token_bucket = weir.token_bucket { name = "tokens", rate = "5/m", burst = 10 },
    leaky_bucket = weir.leaky_bucket { name = "queue", rate = "10/s", queue = 4 },
    fixed_window = weir.fixed_window { name = "window", limit = 10, window = "1d" },
    sliding_log = weir.sliding_log { name = "log", limit = 10, window = "1m" },
    sliding_counter = weir.sliding_counter { name = "counter", limit = 10, window = "1m", slots = 6 },
    min_gap = weir.min_gap { name = "gap", gap = "1m" },
    concurrency = weir.concurrency { name = "jobs", limit = 2, ttl = "1m" },
  },
}, { __index = _G })

function inside.run()
  local code = assert(load(ngx.var.http_lua, "=test", "t", reach))
  local function answer(...)
    local count, values = select("#", ...), { ... }
    for i = 1, count do
      values[i] = values[i] == nil and json.null or values[i]
    end
    ngx.say(json.encode { count = count, values = values })
  end
  answer(code())
end

return inside
