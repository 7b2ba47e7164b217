--- load: many clients that ask for one path as fast as they are answered, by wrk.
--
-- load.start(server, path)   they begin
-- load:stop()                they end; gives how many answers they got, how many of those were 2xx, and how often there
--                            was none, for the connection broke or two seconds passed
-- load.CONNECTIONS           how many clients there are, each with a request under way when they end

local nginx = require "spec.openresty.support.nginx"

local load = { CONNECTIONS = 16 }
load.__index = load

local function read(path)
  local file = io.open(path)
  local text = file and file:read "*a"
  if file then
    file:close()
  end
  return text
end

function load.start(server, path)
  local out = os.tmpname()
  os.remove(out)
  local url = ("http://127.0.0.1:%d%s"):format(server.port, path)
  local command = "{ wrk -t 1 -c %d -d 60s %s >%s.part 2>&1 & echo $! >%s.pid; wait $!; mv %s.part %s; } &"
  os.execute(command:format(load.CONNECTIONS, url, out, out, out, out))
  return setmetatable({ out = out }, load)
end

function load:stop()
  os.execute(("kill -INT $(cat %s.pid)"):format(self.out))
  local text
  nginx.until_true(function()
    text = read(self.out)
    return text
  end, "wrk does not stop")
  os.remove(self.out)
  os.remove(self.out .. ".pid")
  local answers = assert(tonumber(text:match "(%d+) requests in"), text)
  local refused = tonumber(text:match "Non%-2xx or 3xx responses: (%d+)" or 0)
  local lost = 0
  for count in (text:match "Socket errors: ([^\n]*)" or ""):gmatch "%d+" do
    lost = lost + tonumber(count)
  end
  return answers, answers - refused, lost
end

return load
