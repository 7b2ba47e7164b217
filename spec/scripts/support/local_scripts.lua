--- local_scripts: entries run in this interpreter over fake_redis, from their modules or bundled.

local fake_redis = require "spec.scripts.support.fake_redis"

local local_scripts = {}

-- A function (name, keys, argv) -> the reply, over the files of a folder.
function local_scripts.open(folder)
  local chunks = {}
  _G.redis = fake_redis.redis
  return function(name, keys, argv)
    local chunk = chunks[name] or assert(loadfile(folder .. "/" .. name .. ".lua"))
    chunks[name] = chunk
    _G.KEYS, _G.ARGV = keys, argv
    return chunk()
  end
end

return local_scripts
