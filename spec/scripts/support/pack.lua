--- pack: the bundled scripts, written anew into the build folder for each run of the tests.

local json = require "dkjson"

local pack = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local loaded

-- { folder, entries = { name -> the manifest's entry with its body }, names }
function pack.load()
  if loaded then
    return loaded
  end
  local folder = (os.getenv "WEIR_BUILD" or "build") .. "/scripts"
  assert(os.execute(("mkdir -p %s && lua5.4 scripts/bundle.lua %s %s"):format(folder, folder, folder)))
  loaded = { folder = folder, entries = {}, names = {} }
  for index, entry in ipairs(json.decode(read(folder .. "/manifest.json")).scripts) do
    entry.body = read(folder .. "/" .. entry.file)
    loaded.entries[entry.name], loaded.names[index] = entry, entry.name
  end
  return loaded
end

return pack
