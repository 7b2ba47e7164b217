--- redis: limits kept in a Redis server, asked through nginx's own sockets. The verbs and rows are those of store.lua.
--
-- redis.open { url = "redis://user:password@host:6379/0" }    a store; or nil, message, code. The options, each with
--               what it is unless given:
--   url         redis://[[user]:password@]host[:port][/db] or redis+unix://[[user]:password@]/path/of/socket, and after
--               a ? the options of the C client, so that one URL serves both
--   host, port, db, user, password, path (of a Unix socket)    win over the URL's. "127.0.0.1", 6379, 0
--   name        what CLIENT LIST shows. "weir"
--   timeout     bounds a whole call, with connect, AUTH, SELECT, the script and its body. "100ms"
--   keepalive   how long an idle connection is kept. "60s"
--   pool_size   how many idle connections a worker keeps. 32
--   on_error    what take, take_all, take_many, peek and acquire answer when the server can't be asked. "error": nil,
--               message, code. "deny": a refusal, to be tried again in a second. "allow": a pass. The row in place of
--               an answer has source "deny_on_error" or "allow_on_error", and why in code and message. "error"
--   cluster     the server is a node of a cluster: checks of one list must share a tag, or WEIR_CROSS_SLOT. false
--
-- store:take(limit, key[, cost or id[, now_us[, tag]]])     a row; and peek, refund, charge, acquire, renew, release
-- store:take_all({ limit(key, cost), ... }[, now_us])     the joint row, with `binding`, the place in the list of the
--                                  check that binds; and the rows, one a check
-- store:take_many({ limit(key, cost), ... }[, now_us])    in one round trip, a list of rows; one without an answer has
--                                  `code` and `message` alone
-- store:reset(limit, key[, tag])   true
--
-- A tag, such as a tenant, places a key in a cluster and is part of its name; without one it is the key. A check of a
-- list has its tag in a field: check.tag = "acme".
--
-- Opening connects to nothing, so a store may be opened in init_by_lua. Each call takes an idle connection of the
-- worker or a new one. Whatever fails answers nil, message, code, as the C client does; nothing that may have run is
-- sent again.

local calls = require "resty.weir.redis.calls"
local core = require "resty.weir.core"
local ffi = require "ffi"
local ngx = ngx
local row = require "resty.weir.redis.row"
local scripts = require "resty.weir.scripts"
local settings = require "resty.weir.redis.settings"
local words = require "resty.weir.redis.words"

local lib = core.lib
local DENIED_RETRY_US = 1000000

local Store = {}
Store.__index = Store

-- Filled and read without yielding.
local c_check = ffi.new "weir_check"
local c_key, c_id = ffi.new "char[1024]", ffi.new "char[128]"

-- Where nginx has sockets.
local phases = {
  rewrite = true, server_rewrite = true, access = true, precontent = true, content = true, timer = true,
  ssl_cert = true, ssl_client_hello = true, ssl_session_fetch = true, preread = true,
}

local function check_phase()
  local phase = ngx.get_phase()
  if phases[phase] then
    return true
  end
  return nil, ("the phase was %s, where nginx has no sockets; ask Redis in rewrite, access, content or a timer: "
    .. "ngx.timer.at(0, f) starts one from the log phase"):format(phase), "WEIR_INVALID"
end

-- Only what the server's state is to blame for. All else wants a person, and is an error whatever was chosen.
local outages = {
  WEIR_INDETERMINATE = true,
  WEIR_NOT_EXECUTED = true,
  WEIR_LOADING = true,
  WEIR_BUSY = true,
  WEIR_READONLY = true,
  WEIR_SERVER_FULL = true,
}

local function stand_in(self, limit, call)
  local allow = self.settings.on_error == "allow"
  return {
    allowed = allow,
    limit = limit.limit,
    remaining = 0,
    retry_after_us = allow and 0 or DENIED_RETRY_US,
    reset_after_us = 0,
    delay_us = 0,
    source = allow and "allow_on_error" or "deny_on_error",
    code = call.code,
    message = call.message,
  }
end

local function stands_in(self, call)
  return self.settings.on_error ~= "error" and outages[call.code]
end

local function invalid(message, ...)
  return nil, message:format(...), "WEIR_INVALID"
end

-- What a verb is not for.
local only_concurrency = { acquire = true, renew = true, release = true }
local never_concurrency = { refund = true, charge = true }

local function check_verb(limit, verb)
  if limit.algorithm == "concurrency" then
    if never_concurrency[verb] then
      return invalid('limit "%s" is a concurrency limit, which has no %s; release the id', limit.name, verb)
    end
  elseif only_concurrency[verb] then
    return invalid('limit "%s" is a %s; only concurrency has %s', limit.name, limit.algorithm, verb)
  end
  return true
end

local function check_id(limit, verb, id)
  if limit.algorithm == "concurrency" and verb ~= "peek" and verb ~= "reset" and (id == nil or id == "") then
    return invalid('id was empty for concurrency limit "%s"; it must say who holds the place', limit.name)
  end
  return true
end

local function is_limit(limit)
  return type(limit) == "table" and ffi.istype("weir_limit", limit.c)
end

-- What a script needs of a check: its limit, the key of its state, its cost or id, and what places it in a cluster.
-- Nothing may be allocated between core.check and the calls to libweir, or Lua could collect what c_check points to.
local function read_check(verb, limit, key, cost, tag)
  if not is_limit(limit) then
    return core.invalid("limit", limit, "a limit, which resty.weir.limit makes")
  end
  local fine, message, code = check_verb(limit, verb)
  if fine then
    tag, message, code = core.text(tag == nil and "" or tag, "tag")
  end
  if not (fine and tag) then
    return nil, message, code
  end
  local text, id
  text, id, code = core.check(c_check, limit, key, cost)
  if not text then
    return nil, id, code
  end
  if text == "" then
    return invalid('key was empty for limit "%s"; it must have at least one byte', limit.name)
  end
  fine, message, code = check_id(limit, verb, id)
  if not fine then
    return nil, message, code
  end
  c_check.tag, c_check.tag_size = tag, #tag
  local key_size, id_size = lib.weir_check_key(c_check, c_key), lib.weir_check_id(c_check, c_id)
  return {
    limit = limit,
    text = text,
    key = ffi.string(c_key, key_size),
    cost = limit.algorithm == "concurrency" and ffi.string(c_id, id_size) or tonumber(c_check.cost),
    place = tag ~= "" and tag or text,
  }
end

-- The time to send, 0 for the server's, where a call may be made.
local function read_now(now_us)
  local fine, message, code = check_phase()
  if not fine then
    return nil, message, code
  end
  return core.now(now_us)
end

-- A limit's own script. The first word is left for the script.
local function call_one(check, verb, now_us)
  return {
    command = "evalsha",
    script = scripts[check.limit.algorithm],
    words = words.one({ "", "1", check.key }, check, verb, now_us),
    read = function(reply)
      return row.read(reply, verb, check.limit)
    end,
  }
end

-- Several checks, all or none. A list of one is an ordinary take.
local function call_all(checks, now_us)
  if #checks == 1 then
    local call = call_one(checks[1], "take", now_us)
    local read = call.read
    call.read = function(reply)
      local one = read(reply)
      return one and { row.join { one }, { one } }
    end
    return call
  end
  local list = { "", tostring(#checks) }
  for i, check in ipairs(checks) do
    list[2 + i] = check.key
  end
  return {
    command = "evalsha",
    script = scripts.all,
    words = words.all(list, checks, now_us),
    read = function(reply)
      local joint, rows = row.read_all(reply, checks)
      return joint and { joint, rows }
    end,
  }
end

for _, verb in ipairs { "take", "peek", "refund", "charge", "acquire", "renew", "release" } do
  local has_stand_in = verb == "take" or verb == "peek" or verb == "acquire"

  Store[verb] = function(self, limit, key, cost, now_us, tag)
    local now, message, code = read_now(now_us)
    if not now then
      return nil, message, code
    end
    local check
    check, message, code = read_check(verb, limit, key, cost, tag)
    if not check then
      return nil, message, code
    end
    local call = call_one(check, verb, now)
    calls.run(self.settings, { call })
    if call.answer then
      return call.answer
    end
    if has_stand_in and stands_in(self, call) then
      return stand_in(self, limit, call)
    end
    return nil, call.message, call.code
  end
end

local function read_list(list)
  local checks = {}
  local count, message, code = core.checks(list, function(i, one)
    local check, why, name = read_check("take", one[1], one[2], one[3], one.tag)
    checks[i] = check
    return check, why, name
  end)
  if not count then
    return nil, message, code
  end
  return checks
end

-- Whether the checks may be decided together. Places are told as the caller counts, from 1.
local function check_together(self, checks)
  for i, b in ipairs(checks) do
    for k = 1, i - 1 do
      local a = checks[k]
      if a.limit.name == b.limit.name and a.limit.algorithm == b.limit.algorithm and a.text == b.text then
        return invalid('limit "%s" and the same key stand twice in the list, at %d and %d; give one check with the '
          .. "whole cost", b.limit.name, k, i)
      end
    end
    if self.settings.cluster and b.place ~= checks[1].place then
      return nil, ('limits "%s" and "%s" of one list have different tags, so their keys may live on different nodes; '
        .. "give the checks one tag"):format(checks[1].limit.name, b.limit.name), "WEIR_CROSS_SLOT"
    end
  end
  return true
end

function Store:take_all(list, now_us)
  local now, message, code = read_now(now_us)
  if not now then
    return nil, message, code
  end
  local checks, fine
  checks, message, code = read_list(list)
  if checks then
    fine, message, code = check_together(self, checks)
  end
  if not fine then
    return nil, message, code
  end
  local call = call_all(checks, now)
  calls.run(self.settings, { call })
  if call.answer then
    return call.answer[1], call.answer[2]
  end
  if not stands_in(self, call) then
    return nil, call.message, call.code
  end
  local rows = {}
  for i, check in ipairs(checks) do
    rows[i] = stand_in(self, check.limit, call)
  end
  return row.join(rows), rows
end

function Store:take_many(list, now_us)
  local now, message, code = read_now(now_us)
  if not now then
    return nil, message, code
  end
  local checks
  checks, message, code = read_list(list)
  if not checks then
    return nil, message, code
  end
  local some = {}
  for i, check in ipairs(checks) do
    some[i] = call_one(check, "take", now)
  end
  calls.run(self.settings, some)
  local rows = {}
  for i, call in ipairs(some) do
    rows[i] = call.answer or stands_in(self, call) and stand_in(self, checks[i].limit, call)
      or { code = call.code, message = call.message }
  end
  return rows
end

function Store:reset(limit, key, tag)
  local fine, message, code = check_phase()
  if not fine then
    return nil, message, code
  end
  local check
  check, message, code = read_check("reset", limit, key, nil, tag)
  if not check then
    return nil, message, code
  end
  local call = {
    command = "del",
    words = { check.key },
    read = function(reply)
      return (reply == 0 or reply == 1) or nil
    end,
  }
  calls.run(self.settings, { call })
  if call.answer then
    return true
  end
  return nil, call.message, call.code
end

local redis = {}

function redis.open(options)
  local read, message, code = settings.read(options)
  if not read then
    return nil, message, code
  end
  return setmetatable({ settings = read }, Store)
end

return redis
