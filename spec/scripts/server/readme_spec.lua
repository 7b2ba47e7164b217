-- The examples of scripts/README.md, taken out of it and run with the real clients.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local pack = require "spec.scripts.support.pack"
local server = require "spec.scripts.support.server"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local readme = read "scripts/README.md"

-- The block that starts with the fence, and the text block that follows it, if it follows at once.
local function block(fence)
  local _, stop, body = readme:find("\n```" .. fence:gsub("%-", "%%-") .. "\n(.-\n)```\n")
  assert(body, "README has no block " .. fence)
  return body, stop
end

describe("the examples of the README", function()
  local running, folder, environment
  setup(function()
    -- Clients reach it as users do, by a port of this machine that was free a moment ago.
    local port = server.free_port()
    running = server.start { name = "redis", binary = "redis-server", options = "--bind 127.0.0.1 --port " .. port }
    folder = pack.load().folder
    local build = os.getenv "WEIR_BUILD" or "build"
    local clients = io.popen(". spec/support/node_clients.sh && node_clients " .. build .. "/node")
    environment = ("REDIS_URL=redis://127.0.0.1:%s SCRIPTS=%s NODE_PATH=%s "):format(port, folder, clients:read "*l")
    clients:close()
  end)
  teardown(function() running:stop() end)

  local function output(interpreter, name, body)
    local path = folder .. "/" .. name
    local file = assert(io.open(path, "w"))
    file:write(body)
    file:close()
    local pipe = assert(io.popen(environment .. interpreter .. " " .. path .. " 2>&1"))
    local text = pipe:read "*a"
    pipe:close()
    return text
  end
  local printed = readme:match("```text\n(.-\n)```")

  it("run with redis-cli", function()
    assert.are.equal(printed, output("sh", "example.sh", (block "sh redis-cli")))
  end)

  it("run with redis-py", function()
    local body, stop = block "python"
    assert.are.equal(readme:match("```text\n(.-\n)```", stop), output("/usr/bin/python3", "example.py", body))
  end)

  it("run with ioredis", function()
    assert.are.equal(printed, output("node", "example_io.js", (block "js ioredis")))
  end)

  it("run with node-redis", function()
    assert.are.equal(printed, output("node", "example_node.js", (block "js node-redis")))
  end)

  it("name the commands that each header lists", function()
    for _, name in ipairs { "fixed_window", "sliding_counter", "min_gap", "sliding_log", "concurrency" } do
      local commands = table.concat(pack.load().entries[name].commands, " ")
      assert.is_truthy(readme:find("| `" .. name .. "` | " .. commands .. " |", 1, true), name)
    end
  end)
end)
