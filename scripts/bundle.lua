--- bundle: each entry and the modules that it requires as one self-contained file.
--
-- lua5.4 scripts/bundle.lua OUT [SOURCE [MODULE]]
-- OUT      a folder for the scripts and manifest.json
-- SOURCE   a folder for weir_scripts.c and weir_scripts.h
-- MODULE   a folder for scripts.lua, which clients in Lua require

local folder = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = folder .. "/?.lua;" .. package.path

local header = require "bundle.header"
local inline = require "bundle.inline"
local outputs = require "bundle.outputs"
local sha1 = require "bundle.sha1"

local ENTRIES = {
  "token_bucket", "leaky_bucket", "fixed_window", "sliding_log", "sliding_counter", "min_gap",
  "concurrency", "all",
}

local function read(module)
  local file = assert(io.open(folder .. "/" .. module:gsub("%.", "/") .. ".lua"))
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

local out, source, module = arg[1], arg[2], arg[3]
if not out then
  error("bundle.lua OUT [SOURCE [MODULE]]: a folder for the scripts is wanted", 0)
end
local scripts = {}
for _, name in ipairs(ENTRIES) do
  local script = header(read(name), name)
  script.name, script.body = name, script.comment .. inline.script(name, read)
  script.sha1 = sha1(script.body)
  scripts[#scripts + 1] = script
  write(out .. "/" .. name .. ".lua", script.body)
end
write(out .. "/manifest.json", outputs.manifest(scripts))
if source then
  write(source .. "/weir_scripts.h", outputs.header(#scripts))
  write(source .. "/weir_scripts.c", outputs.source(scripts))
end
if module then
  write(module .. "/scripts.lua", outputs.module(scripts))
end
