-- The vector files through EVALSHA on real servers, with the events' own times.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local pack = require "spec.scripts.support.pack"
local server = require "spec.scripts.support.server"
local vectors = require "spec.scripts.support.vectors"

for _, kind in ipairs(server.kinds()) do
  describe("the scripts on " .. kind.name, function()
    local running
    setup(function() running = server.start(kind) end)
    teardown(function() running:stop() end)

    it("have the SHA1 of the manifest", function()
      for _, entry in pairs(pack.load().entries) do
        assert.are.equal(entry.sha1, running.connection:call("SCRIPT", "LOAD", entry.body))
      end
    end)

    for _, name in ipairs { "one", "leases", "all" } do
      it("answer every row of " .. name .. ".jsonl", function()
        for _, sequence in ipairs(vectors.load(name)) do
          running.connection:call("FLUSHALL")
          local commands = {}
          for number, event in ipairs(sequence.calls) do
            local words = { "EVALSHA", pack.load().entries[sequence.script].sha1, tostring(sequence.keys) }
            for index = 1, sequence.keys do
              words[#words + 1] = "{tag}:key " .. index
            end
            for _, value in ipairs(event[1]) do
              words[#words + 1] = value
            end
            commands[number] = words
          end
          for number, reply in ipairs(running.connection:pipeline(commands)) do
            local got = type(reply) == "table" and (reply.err or vectors.text(reply)) or tostring(reply)
            if got ~= sequence.calls[number][2] then
              assert.are.equal(sequence.calls[number][2], got, ("%s, line %d, event %d: %s"):format(
                sequence.script, sequence.index, number, table.concat(sequence.calls[number][1], " ")))
            end
          end
        end
      end)
    end
  end)
end
