--- tools: the two faces of headers, and the parser of others that reads what they wrote.
--
-- tools.faces             { name, answers = function(cases) }, each a list of answers, or { message[, code] } for a
--                         call that failed
-- tools.parse(texts)      what lists of structured fields say, each a list of { name, parameters }

local json = require "dkjson"
local run = require "spec.weir.headers.case"
local weir = require "weir"

local tools = {}

-- Where what is tested was built: libweir.so lies two above weir/core.so.
local build = package.searchpath("weir.core", package.cpath):match "^(.*)/lua/weir/core%.so$"

-- What a program answers on stdout to a value on stdin, both in JSON.
local function ask(command, value)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(json.encode(value))
  file:close()
  local pipe = assert(io.popen(command .. " <" .. name))
  local text = pipe:read "*a"
  local ok = pipe:close()
  os.remove(name)
  assert(ok, command .. " failed: " .. text)
  return (assert(json.decode(text)))
end

local function answer_here(case)
  local ok, answer = pcall(run, weir, weir.headers, case)
  return ok and answer or { message = answer }
end

tools.faces = {
  {
    name = "Lua 5.4",
    answers = function(cases)
      local answers = {}
      for i, case in ipairs(cases) do
        answers[i] = answer_here(case)
      end
      return answers
    end,
  },
  {
    name = "LuaJIT",
    answers = function(cases)
      return ask("luajit spec/weir/headers/in_luajit.lua " .. build, cases)
    end,
  },
}

function tools.parse(texts)
  local pipe = assert(io.popen(
    "unset LD_PRELOAD; . spec/support/structured_headers.sh && structured_headers build/structured_headers"))
  local path = assert(pipe:read "*l", "npm gave no parser")
  pipe:close()
  return ask(("env -u LD_PRELOAD NODE_PATH=%s node spec/support/parse_headers.js"):format(path), texts)
end

return tools
