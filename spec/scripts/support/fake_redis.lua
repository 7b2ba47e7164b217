--- fake_redis: as much of a server as the scripts need, in plain Lua, with a clock that the test sets.

local fake_redis = {}

local spread = table.unpack or unpack

local WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"

-- What a server makes of a value that a script passes to a command.
local function text(value)
  if type(value) == "number" then
    return string.format("%.17g", value)
  end
  assert(type(value) == "string", "a command takes strings and numbers")
  return value
end

local function range(size, first, last)
  first, last = tonumber(first), tonumber(last)
  if first < 0 then
    first = math.max(size + first, 0)
  end
  if last < 0 then
    last = size + last
  end
  return first + 1, math.min(last, size - 1) + 1
end

-- The members of a sorted set in its order.
local function ranked(set)
  local members = {}
  for member, score in pairs(set) do
    members[#members + 1] = { member, score }
  end
  table.sort(members, function(a, b)
    return a[2] < b[2] or a[2] == b[2] and a[1] < b[1]
  end)
  return members
end

local function within(score, least, most)
  local function bound(word)
    if word == "-inf" then
      return -math.huge
    elseif word == "+inf" then
      return math.huge
    end
    return tonumber((word:gsub("^%(", "")))
  end
  local low, high = bound(least), bound(most)
  return (score > low or score == low and least:sub(1, 1) ~= "(")
    and (score < high or score == high and most:sub(1, 1) ~= "(")
end

local commands = {}

function commands.TIME(store)
  local micros = store.now_us % 1000000
  return { string.format("%.0f", (store.now_us - micros) / 1000000), string.format("%.0f", micros) }
end

function commands.GET(store, key)
  return store:find(key, "string") or false
end

function commands.SET(store, key, value, word, ttl)
  assert(word == "PX" and ttl:find("^[1-9]%d*$"), "SET has a whole TTL of at least 1 ms")
  store.keys[key] = { type = "string", value = value, ttl = tonumber(ttl) }
  return { ok = "OK" }
end

function commands.DEL(store, key)
  local held = store.keys[key] ~= nil
  store.keys[key] = nil
  return held and 1 or 0
end

function commands.PEXPIRE(store, key, ttl)
  assert(ttl:find("^[1-9]%d*$"), "a TTL is whole and at least 1 ms")
  if not store.keys[key] then
    return 0
  end
  store.keys[key].ttl = tonumber(ttl)
  return 1
end

function commands.LLEN(store, key)
  return #(store:find(key, "list") or {})
end

function commands.LINDEX(store, key, index)
  local list = store:find(key, "list") or {}
  local first = range(#list, index, -1)
  return list[first] or false
end

function commands.LTRIM(store, key, first, last)
  local list, kept = store:find(key, "list") or {}, {}
  first, last = range(#list, first, last)
  for index = first, last do
    kept[#kept + 1] = list[index]
  end
  if store.keys[key] then
    store.keys[key].value = kept
  end
  store:tidy(key)
  return { ok = "OK" }
end

function commands.RPUSH(store, key, ...)
  local list = store:find(key, "list", {})
  for _, value in ipairs { ... } do
    list[#list + 1] = value
  end
  return #list
end

function commands.ZCARD(store, key)
  return #ranked(store:find(key, "zset") or {})
end

function commands.ZSCORE(store, key, member)
  local score = (store:find(key, "zset") or {})[member]
  return score and text(score) or false
end

function commands.ZRANGE(store, key, first, last, word)
  assert(word == "WITHSCORES")
  local members, found = ranked(store:find(key, "zset") or {}), {}
  first, last = range(#members, first, last)
  for index = first, last do
    found[#found + 1] = members[index][1]
    found[#found + 1] = text(members[index][2])
  end
  return found
end

function commands.ZRANGEBYSCORE(store, key, least, most)
  local found = {}
  for _, entry in ipairs(ranked(store:find(key, "zset") or {})) do
    if within(entry[2], least, most) then
      found[#found + 1] = entry[1]
    end
  end
  return found
end

function commands.ZREMRANGEBYSCORE(store, key, least, most)
  local gone = commands.ZRANGEBYSCORE(store, key, least, most)
  for _, member in ipairs(gone) do
    store.keys[key].value[member] = nil
  end
  store:tidy(key)
  return #gone
end

function commands.ZADD(store, key, score, member)
  store:find(key, "zset", {})[member] = tonumber(score)
  return 1
end

function commands.ZREM(store, key, member)
  local set = store:find(key, "zset") or {}
  local held = set[member] ~= nil
  set[member] = nil
  store:tidy(key)
  return held and 1 or 0
end

local Store = {}
Store.__index = Store

-- The value under a key, or nil; with `fresh` it is made when there is none.
function Store:find(key, kind, fresh)
  local entry = self.keys[key]
  if entry and entry.type ~= kind then
    error { err = WRONGTYPE }
  end
  if not entry and fresh then
    entry = { type = kind, value = fresh }
    self.keys[key] = entry
  end
  return entry and entry.value
end

-- A list or set goes with its last entry.
function Store:tidy(key)
  if self.keys[key] and next(self.keys[key].value) == nil then
    self.keys[key] = nil
  end
end

-- What scripts know as `redis`. Modules bind redis.call when they are loaded, so there is one, over
-- a store that is emptied for each test.
fake_redis.redis = {}

local store

-- Runs a command. `ran` of the store lists each as it runs.
function fake_redis.redis.call(name, ...)
  local arguments = { ... }
  for index, value in ipairs(arguments) do
    arguments[index] = text(value)
  end
  store.ran[#store.ran + 1] = { name, spread(arguments) }
  return commands[name](store, spread(arguments))
end

function fake_redis.redis.pcall(...)
  local fine, answer = pcall(fake_redis.redis.call, ...)
  if not fine and type(answer) ~= "table" then
    error(answer, 0)
  end
  return answer
end

-- An empty store in place of the last one.
function fake_redis.open()
  store = setmetatable({ keys = {}, now_us = 0, ran = {} }, Store)
  return store
end

return fake_redis
