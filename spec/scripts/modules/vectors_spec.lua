-- The vector files through the scripts in this interpreter: from their modules, and as bundled.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local fake_redis = require "spec.scripts.support.fake_redis"
local local_scripts = require "spec.scripts.support.local_scripts"
local pack = require "spec.scripts.support.pack"
local vectors = require "spec.scripts.support.vectors"

for _, form in ipairs { { "from their modules", "scripts" }, { "as bundled", pack.load().folder } } do
  describe("the scripts " .. form[1], function()
    local call = local_scripts.open(form[2])
    for _, name in ipairs { "one", "leases", "all" } do
      it("answer every row of " .. name .. ".jsonl", function()
        for _, sequence in ipairs(vectors.load(name)) do
          fake_redis.open()
          local keys = {}
          for index = 1, sequence.keys do
            keys[index] = "key " .. index
          end
          for number, event in ipairs(sequence.calls) do
            local reply = call(sequence.script, keys, event[1])
            local got = reply.err or vectors.text(reply)
            if got ~= event[2] then
              assert.are.equal(event[2], got, ("%s, line %d, event %d: %s"):format(
                sequence.script, sequence.index, number, table.concat(event[1], " ")))
            end
          end
        end
      end)
    end
  end)
end
