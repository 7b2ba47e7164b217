--- connection: a cosocket that has had its handshake, idle from the pool or new.
--
-- connection.open(settings, job)    a client of lua-resty-redis, and whether it was idle; else nil and a failure:
--                                   { code, sentence, again }. `again`: nothing ran, and it may succeed soon
--
-- job.late is kept at what a call ends with if the deadline comes just then.
--
-- A new connection says AUTH, SELECT and CLIENT SETNAME in one round trip; an idle one has said them, since its pool is
-- named after all three. No sentence quotes what the server says here: it may repeat the password.

local redis = require "resty.redis"
local refusal = require "resty.weir.redis.refusal"

local connection = {}

local function failure(code, sentence, again)
  return { code = code, sentence = sentence, again = again }
end

local not_redis = failure("WEIR_NOT_REDIS", "what answers there is not a Redis server")
local hung_up = failure("WEIR_NOT_EXECUTED", "the server closed the connection at once")
local unreached = failure("WEIR_NOT_EXECUTED", "can't be reached: the deadline came first")
local silent = failure("WEIR_NOT_EXECUTED", "took the connection and did not answer by the deadline")
local no_resolver = failure("WEIR_INVALID",
  "host is a name, and nginx has no resolver to look it up; set `resolver` in nginx.conf or give an address")

local function connect(settings, red)
  local options = { pool = settings.pool }
  if settings.path then
    return red:connect("unix:" .. settings.path, options)
  end
  return red:connect(settings.host, settings.port, options)
end

local function why_unreached(message)
  if message == "timeout" then
    return unreached
  end
  if message:find("no resolver defined", 1, true) then
    return no_resolver
  end
  -- A Unix socket whose queue is full says so.
  local again = message:find("temporarily unavailable", 1, true) ~= nil
  return failure("WEIR_NOT_EXECUTED", "can't be reached: " .. message, again)
end

-- Sends what the settings ask for; the name comes last.
local function greet(settings, red)
  red:init_pipeline(3)
  if settings.user then
    red:auth(settings.user, settings.password)
  elseif settings.password then
    red:auth(settings.password)
  end
  if settings.db ~= 0 then
    red:select(settings.db)
  end
  red:client("SETNAME", settings.name)
  return red:commit_pipeline()
end

-- A name is only for people: proxies and users without the right to give one go without.
local function matters(found, is_last)
  return not is_last or found.code == "WEIR_WRONG_PASSWORD" or found.again
end

local function why_refused(replies)
  for i, reply in ipairs(replies) do
    if type(reply) == "table" and reply[1] == false then
      local found = refusal.of(reply[2])
      if matters(found, i == #replies) then
        return found.code == "WEIR_PROTOCOL" and failure("WEIR_NOT_REDIS", found.sentence) or found
      end
    elseif reply ~= "OK" then
      return not_redis
    end
  end
end

-- The library raises on some of what is not the protocol, and gives no message or that of a prefix on the rest.
local function handshake(settings, red)
  local fine, replies, message = pcall(greet, settings, red)
  if fine and replies then
    return why_refused(replies)
  end
  if not fine or not message or message:find("unknown prefix", 1, true) then
    return not_redis
  end
  return message == "timeout" and silent or hung_up
end

function connection.open(settings, job)
  job.late = unreached
  local red, message = redis:new()
  if not red then
    return nil, why_unreached(message)
  end
  red:set_timeout(settings.timeout)
  local connected
  connected, message = connect(settings, red)
  if not connected then
    return nil, why_unreached(message)
  end
  if red:get_reused_times() > 0 then
    return red, true
  end
  job.late = silent
  local refused = handshake(settings, red)
  if refused then
    red:close()
    return nil, refused
  end
  return red, false
end

return connection
