--- proxy: stands between nginx and a Redis, and answers calls as a test wants. It runs while a request is under way.
--
-- proxy.open(server)         on a free port of loopback; `url` is its own
-- proxy.on_call              a function of a call's words and of one that has the server run them and gives bytes of
--                            its reply; it gives the bytes for the client, "" for none, and what follows: nothing,
--                            "close", or a function that is called again and again for more of them
--                            nil: what the server says
-- proxy.on_hello             the same for what comes before calls: AUTH, SELECT and CLIENT
-- proxy:ask(host, code)      what the code answers inside nginx, while the proxy serves
-- proxy.calls, proxy.connections    how many there were
-- proxy:standing()           how many connections nginx has open to it
-- proxy:close()

local socket = require "socket"
local unix = require "socket.unix"

local proxy = {}
local Proxy = {}
Proxy.__index = Proxy

-- The words of the first command in the text and what follows it; nil while it is not whole.
local function parse(text)
  local count, at = text:match "^%*(%d+)\r\n()"
  local words = {}
  for i = 1, tonumber(count) or 0 do
    local size, start = text:match("^%$(%d+)\r\n()", at)
    if not size or #text < start + size + 1 then
      return nil
    end
    words[i], at = text:sub(start, start + size - 1), start + size + 2
  end
  return count and words, count and text:sub(at)
end

local function read_raw(upstream)
  local line = assert(upstream:receive "*l")
  local text, kind, count = line .. "\r\n", line:sub(1, 1), tonumber(line:sub(2))
  if kind == "$" and count >= 0 then
    return text .. assert(upstream:receive(count + 2))
  end
  for _ = 1, kind == "*" and count or 0 do
    text = text .. read_raw(upstream)
  end
  return text
end

local function write_raw(words)
  local parts = { "*" .. #words .. "\r\n" }
  for i, word in ipairs(words) do
    parts[i + 1] = "$" .. #word .. "\r\n" .. word .. "\r\n"
  end
  return table.concat(parts)
end

function proxy.open(server)
  local listener = assert(socket.bind("127.0.0.1", 0))
  local _, port = listener:getsockname()
  return setmetatable({
    server = server, listener = listener, port = port, url = "redis://127.0.0.1:" .. port, calls = 0, connections = 0,
    clients = {},
  }, Proxy)
end

function Proxy:drop(client)
  client.socket:close()
  client.upstream:close()
  self.clients[client.socket] = nil
end

function Proxy:accept()
  local client = { socket = self.listener:accept(), text = "" }
  client.socket:settimeout(0)
  client.socket:setoption("tcp-nodelay", true)
  client.upstream = unix.stream and unix.stream() or unix()
  assert(client.upstream:connect(self.server.path))
  self.clients[client.socket] = client
  self.connections = self.connections + 1
end

-- Answers one command. False when the connection is closed.
function Proxy:answer(client, words)
  local function forward()
    client.upstream:send(write_raw(words))
    return read_raw(client.upstream)
  end
  local is_call = words[1]:lower():find "^eval" or words[1]:lower() == "del"
  self.calls = self.calls + (is_call and 1 or 0)
  local respond = is_call and self.on_call or not is_call and self.on_hello
  local bytes, after
  if respond then
    bytes, after = respond(words, forward)
  else
    bytes = forward()
  end
  client.socket:send(bytes)
  if after == "close" then
    self:drop(client)
    return false
  end
  client.more = after
  return true
end

function Proxy:read(client)
  local _, message, part = client.socket:receive "*a"
  client.text = client.text .. (part or "")
  local words, rest = parse(client.text)
  while words do
    client.text = rest
    if not self:answer(client, words) then
      return
    end
    words, rest = parse(client.text)
  end
  if message == "closed" then
    self:drop(client)
  end
end

-- One turn, which waits up to so many seconds for something to do. Gives whether `watched` can be read.
function Proxy:turn(wait_s, watched)
  local list, trickles = { self.listener, watched }, false
  for stream, client in pairs(self.clients) do
    list[#list + 1] = stream
    trickles = trickles or client.more
  end
  local ready = socket.select(list, nil, trickles and 0.005 or wait_s)
  if ready[self.listener] then
    self:accept()
  end
  for stream, client in pairs(self.clients) do
    if ready[stream] then
      self:read(client)
    end
    if client.more then
      client.socket:send(client.more())
    end
  end
  return watched and ready[watched]
end

function Proxy:ask(host, code)
  local request = host:send(code)
  local deadline = socket.gettime() + 10
  while not self:turn(0.05, request.socket) do
    assert(socket.gettime() < deadline, "nginx does not answer within ten seconds")
  end
  return request:values()
end

-- What nginx closed before it answered is noticed first.
function Proxy:standing()
  self:turn(0)
  local count = 0
  for _ in pairs(self.clients) do
    count = count + 1
  end
  return count
end

function Proxy:close()
  self.listener:close()
  for _, client in pairs(self.clients) do
    client.socket:close()
    client.upstream:close()
  end
end

return proxy
