--- settings: where the server is and how to speak with it. Defaults, then the URL, then the options; all checked once.
--
-- settings.read(options)    the options, with timeout and keepalive in milliseconds; timeout_s; address, for people;
--                           and pool, the name of its idle connections. Else nil, message, code
--
-- No sentence quotes the URL or the password: a URL that is written wrongly may show its password anywhere.

local core = require "resty.weir.core"
local ffi = require "ffi"
local ngx = ngx

local duration = ffi.new "int64_t[1]"

local function refuse(...)
  error({ message = (...):format(select(2, ...)) }, 0)
end

local function is_whole(value, least, most)
  return type(value) == "number" and value % 1 == 0 and value >= least and value <= most
end

local function whole(least, most)
  return function(value, field)
    if not is_whole(value, least, most) then
      refuse("%s was %s; it must be a whole number from %d to %d", field, tostring(value), least, most)
    end
    return value
  end
end

local function text(most)
  return function(value, field)
    if type(value) ~= "string" or value == "" or #value > most or value:find "%c" then
      refuse("%s must be text of 1 to %d bytes without control characters", field, most)
    end
    return value
  end
end

local function name(value, field)
  if type(value) ~= "string" or #value > 64 or not value:find "^[!-~]+$" then
    refuse("%s must be 1 to 64 printable ASCII characters without blanks", field)
  end
  return value
end

local function path(value, field)
  if not text(107)(value, field):find "^/" then
    refuse("%s must be the absolute path of a socket", field)
  end
  return value
end

-- Timers of nginx count milliseconds.
local function milliseconds(value, field)
  if type(value) ~= "string" or core.lib.weir_duration_parse(value, field, duration, nil) ~= 0
    or duration[0] < 1000 or duration[0] > 3600 * 1000000LL then
    refuse('%s must be a duration from "1ms" to "1h", such as "100ms"', field)
  end
  return math.ceil(tonumber(duration[0]) / 1000)
end

local function one_of(words)
  return function(value, field)
    for _, word in ipairs(words) do
      if value == word then
        return value
      end
    end
    refuse("%s must be one of %s", field, table.concat(words, ", "))
  end
end

local function flag(value, field)
  if type(value) ~= "boolean" then
    refuse("%s was %s; it must be true or false", field, tostring(value))
  end
  return value
end

local readers = {
  host = text(255),
  port = whole(1, 65535),
  path = path,
  db = whole(0, 99999),
  user = text(256),
  password = text(1023),
  name = name,
  timeout = milliseconds,
  keepalive = milliseconds,
  pool_size = whole(1, 1024),
  on_error = one_of { "error", "deny", "allow" },
  cluster = flag,
}

-- A URL says all in text, and some by the names that the C client has for them.
local function same(value)
  return value
end

local function number_of(value)
  return value:find "^%d%d?%d?%d?%d?$" and tonumber(value) or value
end

local function flag_of(value)
  if value == "yes" or value == "no" then
    return value == "yes"
  end
  return value
end

local url_options = {
  db = { field = "db", read = number_of },
  user = { field = "user", read = same },
  password = { field = "password", read = same },
  name = { field = "name", read = same },
  deadline = { field = "timeout", read = same },
  connections = { field = "pool_size", read = number_of },
  on_error = { field = "on_error", read = same },
  cluster = { field = "cluster", read = flag_of },
}

local function decode(value, field)
  if value:gsub("%%%x%x", ""):find("%", 1, true) then
    refuse("%s of the url has a %% that no two hexadecimal digits follow; a %% itself is written %%25", field)
  end
  return (value:gsub("%%(%x%x)", function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

local function read_query(query, out)
  for option in query:gmatch "[^&]+" do
    local key, value = option:match "^([^=]*)=(.*)$"
    local known = url_options[key]
    if not known then
      refuse "url has an option that is none of db, user, password, name, deadline, connections, on_error, cluster"
    end
    if out[known.field] ~= nil then
      refuse("url has %s twice", key)
    end
    out[known.field] = known.read(decode(value, key))
  end
end

local function read_authority(authority, is_local, out)
  local user, place = authority:match "^(.*)@(.-)$"
  if user then
    local name_of, password = user:match "^([^:]*):(.*)$"
    if not password or password == "" then
      refuse "url has a user and no password; write user:password@ or :password@"
    end
    out.user = name_of ~= "" and decode(name_of, "user") or nil
    out.password = decode(password, "password")
  end
  place = place or authority
  if is_local then
    return place == "" or refuse "url must have the absolute path of a socket after redis+unix://"
  end
  local host, port = place:match "^%[([^%[%]]+)%](.*)$"
  if not host then
    host, port = place:match "^([^:%[%]]*)(.*)$"
  end
  if port ~= "" and not port:find "^:%d%d?%d?%d?%d?$" then
    refuse "url must have host:port or [address]:port, a port from 1 to 65535"
  end
  out.host = host ~= "" and decode(host, "host") or nil
  out.port = port ~= "" and tonumber(port:sub(2)) or nil
end

local function read_url(url)
  if type(url) ~= "string" then
    refuse("url was a %s; it must be text such as redis://127.0.0.1:6379/0", type(url))
  end
  local scheme, rest = url:match "^([%w+]*)://(.*)$"
  local is_local = scheme == "redis+unix"
  if scheme ~= "redis" and not is_local then
    refuse("url must begin with redis:// or redis+unix://%s", scheme == "rediss" and "; TLS is not offered" or "")
  end
  local out = {}
  local authority, tail, query = rest:match "^([^/?]*)([^?]*)%??(.*)$"
  read_authority(authority, is_local, out)
  if is_local then
    out.path = decode(tail, "path")
  elseif #tail > 1 then
    out.db = number_of(tail:sub(2))
  end
  read_query(query, out)
  return out
end

local function merge(out, given)
  for field, value in pairs(given) do
    local reader = readers[field]
    if not reader then
      refuse("%s is no option; those there are: url, host, port, path, db, user, password, name, timeout, keepalive, "
        .. "pool_size, on_error, cluster", tostring(field))
    end
    out[field] = reader(value, field)
  end
end

local function read(options)
  if type(options) ~= "table" then
    refuse("options were a %s; they must be a table", type(options))
  end
  local s = {
    host = "127.0.0.1", port = 6379, db = 0, name = "weir", timeout = 100, keepalive = 60000, pool_size = 32,
    on_error = "error", cluster = false,
  }
  local given = {}
  for field, value in pairs(options) do
    given[field] = value
  end
  given.url = nil
  if options.url ~= nil then
    merge(s, read_url(options.url))
  end
  merge(s, given)
  if given.host and s.path then
    refuse "host and path are both given; the server has one address"
  end
  if s.user and not s.password then
    refuse "user is given without a password"
  end
  if s.cluster and s.db ~= 0 then
    refuse("db was %d; a cluster has only db 0", s.db)
  end
  return s
end

local settings = {}

function settings.read(options)
  local fine, s = pcall(read, options)
  if not fine then
    if type(s) ~= "table" then
      error(s, 0)
    end
    return nil, s.message, "WEIR_INVALID"
  end
  if s.host:find(":", 1, true) then
    s.host = "[" .. s.host .. "]"
  end
  s.address = s.path or ("%s:%d"):format(s.host, s.port)
  s.timeout_s = s.timeout / 1000
  -- Whoever takes an idle connection takes it with its user and database. NUL is in none of these.
  local who = table.concat({ s.address, s.db, s.user or "", s.password or "", s.name }, "\0")
  s.pool = ("weir %s %s"):format(s.address, ngx.encode_base64(ngx.sha1_bin(who)))
  return s
end

return settings
