-- What the scripts promise of a server's keys: what they write, when, with which TTL and commands.

package.path = "scripts/?.lua;./?.lua;" .. package.path

local pack = require "spec.scripts.support.pack"
local server = require "spec.scripts.support.server"

local MINUTE = "60000000"

-- Parameters with room for three at once.
local three = {
  token_bucket = { "3", MINUTE, "3" },
  leaky_bucket = { "3", MINUTE, "2" },
  fixed_window = { "3", MINUTE, "0" },
  sliding_log = { "3", MINUTE, "0" },
  sliding_counter = { "3", MINUTE, "1", "0" },
  min_gap = { MINUTE, "0" },
  concurrency = { "3", MINUTE },
}

for _, kind in ipairs(server.kinds()) do
  describe("on " .. kind.name, function()
    local running, client
    setup(function()
      running = server.start(kind)
      client = running.connection
      for _, entry in pairs(pack.load().entries) do
        client:call("SCRIPT", "LOAD", entry.body)
      end
    end)
    teardown(function() running:stop() end)
    before_each(function() client:call("FLUSHALL") end)

    local function words(name, keys, argv)
      local list = { "EVALSHA", pack.load().entries[name].sha1, tostring(#keys) }
      for _, group in ipairs { keys, argv } do
        for _, word in ipairs(group) do
          list[#list + 1] = word
        end
      end
      return list
    end
    local function call(name, keys, argv, connection)
      local list = words(name, keys, argv)
      return (connection or client):call((table.unpack or unpack)(list))
    end
    local function one(name, cost, op, now, connection)
      local argv = {}
      for index, word in ipairs(three[name]) do
        argv[index] = word
      end
      argv[#argv + 1], argv[#argv + 2] = cost, op
      argv[#argv + 1] = now
      return call(name, { "{k}" .. name }, argv, connection)
    end
    local function changes()
      return tonumber(client:call("INFO", "persistence"):match "rdb_changes_since_last_save:(%d+)")
    end
    local function dumps()
      local all = {}
      for _, key in ipairs(client:call("KEYS", "*")) do
        all[key] = client:call("DUMP", key) .. client:call("PEXPIRETIME", key)
      end
      return all
    end
    -- What the server ran while doing, as a list of words each, without the call itself.
    local function monitored(doing)
      local monitor = running:connect()
      assert(monitor:call "MONITOR" == "OK")
      doing()
      client:call("ECHO", "the end")
      local seen = {}
      while true do
        local line = monitor:read()
        if line:find("the end", 1, true) then
          break
        end
        local command = {}
        for word in line:gmatch '"([^"]*)"' do
          command[#command + 1] = word
        end
        if line:find(" lua] ", 1, true) or line:find("lua]", 1, true) then
          seen[#seen + 1] = command
        end
      end
      monitor:close()
      return seen
    end
    local function fill(name)
      for index = 1, name == "min_gap" and 1 or 3 do
        assert.are.equal(1, one(name, name == "concurrency" and "id " .. index or "1")[1], name)
      end
    end

    it("a refusal writes nothing: no change is counted, each DUMP is the same", function()
      for name in pairs(three) do
        client:call("FLUSHALL")
        fill(name)
        local before, counted = dumps(), changes()
        for _ = 1, 5 do
          assert.are.equal(0, one(name, name == "concurrency" and "another" or "1")[1], name)
        end
        if name ~= "concurrency" and name ~= "min_gap" then
          assert.are.equal(-1, one(name, "4")[4], name)
        end
        assert.are.same(before, dumps())
        assert.are.equal(counted, changes(), name)
      end
    end)

    it("a peek writes nothing and needs no more than a read-only user's rights", function()
      client:call("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+evalsha", "+time", "+@read", "-@write")
      local reader = running:connect()
      reader:call("AUTH", "reader", "")
      for name in pairs(three) do
        client:call("FLUSHALL")
        fill(name)
        local before = dumps()
        local reply = one(name, name == "concurrency" and "" or "1", "peek", nil, reader)
        assert.are.equal(0, reply[1], tostring(reply.err))
        assert.are.same(before, dumps())
      end
      reader:close()
    end)

    it("a take of a string state is one SET with its TTL", function()
      for _, name in ipairs { "token_bucket", "leaky_bucket", "fixed_window", "sliding_counter", "min_gap" } do
        local ran = monitored(function() one(name) end)
        local names = {}
        for index, command in ipairs(ran) do
          names[index] = command[1]:upper()
        end
        assert.are.same({ "TIME", "GET", "SET" }, names, name)
        assert.are.same({ "SET", "{k}" .. name, "PX" }, { ran[3][1]:upper(), ran[3][2], ran[3][4]:upper() })
        assert.are.equal(5, #ran[3])
      end
    end)

    it("scripts run the commands that their header lists, on the keys that are declared", function()
      for name in pairs(three) do
        local entry, allowed = pack.load().entries[name], {}
        for _, command in ipairs(entry.commands) do
          allowed[command] = true
        end
        local ran = monitored(function()
          fill(name)
          for _, op in ipairs(name == "concurrency" and { "acquire", "renew", "peek", "release" } or { "take", "charge", "peek", "refund" }) do
            one(name, name == "concurrency" and "id 1" or "1", op)
            one(name, name == "concurrency" and "id 1" or "1", op, "1784900000000000")
            one(name, name == "concurrency" and "id 2" or "1", op, "1784800000000000")
          end
        end)
        for _, command in ipairs(ran) do
          assert.is_true(allowed[command[1]:upper()], name .. " ran " .. command[1])
          assert.is_true(command[1]:upper() == "TIME" or command[2] == "{k}" .. name)
        end
      end
    end)

    it("a user with just those rights can call each script", function()
      for name in pairs(three) do
        client:call("FLUSHALL")
        local rights = { "ACL", "SETUSER", "just " .. name, "reset", "on", "nopass", "~{k}*", "+evalsha" }
        for _, command in ipairs(pack.load().entries[name].commands) do
          rights[#rights + 1] = "+" .. command:lower()
        end
        rights[3] = "just_" .. name
        assert.are.equal("OK", client:call((table.unpack or unpack)(rights)))
        local user = running:connect()
        user:call("AUTH", "just_" .. name, "")
        for _, op in ipairs(name == "concurrency" and { "acquire", "renew", "release", "peek" } or { "take", "charge", "peek", "refund" }) do
          local reply = one(name, name == "concurrency" and "id" or "1", op, nil, user)
          assert.is_nil(reply.err, name .. " " .. op .. ": " .. tostring(reply.err))
        end
        user:close()
      end
    end)

    it("C145: no key is ever without a TTL, whatever is done", function()
      for name in pairs(three) do
        client:call("FLUSHALL")
        for _, op in ipairs(name == "concurrency" and { "acquire", "acquire", "renew", "release", "acquire" }
          or { "take", "take", "charge", "refund", "take", "take", "charge", "refund", "refund", "refund" }) do
          for _, now in ipairs { false, "1784900000000000", "1784800000000000" } do
            local reply = one(name, name == "concurrency" and "id" or "1", op, now or nil)
            assert.is_nil(reply.err)
            local ttl = client:call("PTTL", "{k}" .. name)
            assert.is_true(ttl > 0 or ttl == -2, name .. " " .. op .. " " .. ttl)
          end
        end
      end
    end)

    it("C018, C023: a TTL is reset_after and at most a second more, and a minute more with the caller's time", function()
      for name in pairs(three) do
        for _, now in ipairs { false, "1784900000000001" } do
          client:call("FLUSHALL")
          local reply = one(name, name == "concurrency" and "id" or "1", name == "concurrency" and "acquire" or "take", now or nil)
          local reset_ms = reply[5] / 1000 + (now and 60000 or 0)
          local set = client:call("PTTL", "{k}" .. name)
          assert.is_true(set <= reset_ms + 1000, name .. " is kept too long")
          assert.is_true(set > reset_ms - 500, name .. " is kept too short")
        end
      end
    end)

    it("C013, C131: DEL is a whole reset, and what it leaves is fresh", function()
      for name in pairs(three) do
        fill(name)
        client:call("DEL", "{k}" .. name)
        assert.are.same({}, client:call("KEYS", "{k}" .. name))
        fill(name)
      end
    end)

    it("an empty state after a refund has a TTL, or no key", function()
      for name in pairs(three) do
        client:call("FLUSHALL")
        one(name, name == "concurrency" and "id" or "1", nil)
        local reply = one(name, name == "concurrency" and "id" or "1", name == "concurrency" and "release" or "refund")
        assert.are.equal(1, reply[1])
        local ttl = client:call("PTTL", "{k}" .. name)
        assert.is_true(ttl == -2 or ttl >= 0 and ttl <= 1000, name)
      end
    end)

    local function list_of(refuser)
      local keys, argv = {}, { "", "take" }
      for _, name in ipairs(pack.load().names) do
        if three[name] then
          keys[#keys + 1] = "{k}" .. name
          argv[#argv + 1] = name
          argv[#argv + 1] = tostring(#three[name])
          for _, word in ipairs(three[name]) do
            argv[#argv + 1] = word
          end
          argv[#argv + 1] = name == "concurrency" and "joint" or name == refuser and name ~= "min_gap" and "4" or "1"
        end
      end
      return keys, argv
    end

    it("C149, C152: all, refused by any one, leaves every DUMP untouched", function()
      for refuser in pairs(three) do
        client:call("FLUSHALL")
        for name in pairs(three) do
          if name ~= "min_gap" or refuser == "min_gap" then
            one(name, name == "concurrency" and "id" or "1")
          end
        end
        if refuser == "concurrency" then
          one("concurrency", "id 2")
          one("concurrency", "id 3")
        end
        local before, counted = dumps(), changes()
        local keys, argv = list_of(refuser)
        local reply = call("all", keys, argv)
        assert.are.equal(0, reply[1], refuser .. ": " .. tostring(reply.err))
        assert.are.same(before, dumps(), refuser)
        assert.are.equal(counted, changes())
      end
    end)

    it("all, allowed, writes what each script writes", function()
      local keys, argv = list_of()
      assert.are.equal(1, call("all", keys, argv)[1])
      assert.are.equal(7, #client:call("KEYS", "*"))
      for _, key in ipairs(keys) do
        assert.is_true(client:call("PTTL", key) > 0)
      end
      local allowed = {}
      for _, command in ipairs(pack.load().entries.all.commands) do
        allowed[command] = true
      end
      for _, command in ipairs(monitored(function() call("all", keys, argv) end)) do
        assert.is_true(allowed[command[1]:upper()], command[1])
      end
    end)

    it("a bucket of whole microseconds and a gap are kept as one integer", function()
      for _, name in ipairs { "token_bucket", "leaky_bucket", "min_gap" } do
        one(name)
        assert.are.equal("int", client:call("OBJECT", "ENCODING", "{k}" .. name))
      end
      call("token_bucket", { "{k}odd" }, { "7", MINUTE, "7" })
      assert.are.equal("embstr", client:call("OBJECT", "ENCODING", "{k}odd"))
      one "sliding_counter"
      assert.are.equal("embstr", client:call("OBJECT", "ENCODING", "{k}sliding_counter"))
    end)

    it("C093, C146: a log of 20,000 is pushed in pieces and takes at most 12 bytes an entry", function()
      local reply = call("sliding_log", { "{k}log" }, { "20000", MINUTE, "0", "20000" })
      assert.are.equal(1, reply[1])
      assert.are.equal(20000, client:call("LLEN", "{k}log"))
      assert.is_true(client:call("MEMORY", "USAGE", "{k}log", "SAMPLES", "0") <= 12 * 20000)
      assert.are.equal(0, call("sliding_log", { "{k}log" }, { "20000", MINUTE, "0" })[1])
      assert.are.equal(20000, client:call("LLEN", "{k}log"))
    end)

    it("a log of more entries than one call may add is refused by name and nothing is written", function()
      local reply = call("sliding_log", { "{k}log" }, { "1099511627776", MINUTE, "0", "1048577" })
      assert.are.equal("WEIR_INVALID cost", reply.err:sub(1, 17))
      assert.are.equal(0, client:call("EXISTS", "{k}log"))
    end)

    it("C051: flushed scripts are gone, and EVAL of the body is the same call", function()
      fill "fixed_window"
      client:call("SCRIPT", "FLUSH")
      assert.are.equal("NOSCRIPT", one("fixed_window").err:match "^%u+")
      local list = { "EVAL", pack.load().entries.fixed_window.body, "1", "{k}fixed_window", "3", MINUTE, "0" }
      assert.are.equal(0, client:call((table.unpack or unpack)(list))[1])
      assert.are.equal(0, one("fixed_window")[1])
      for _, entry in pairs(pack.load().entries) do
        client:call("SCRIPT", "LOAD", entry.body)
      end
    end)

    it("C061, C062: no script sets a global, and each runs twice alike", function()
      for name, entry in pairs(pack.load().entries) do
        assert.is_nil(entry.body:find("replicate_commands", 1, true), name)
        assert.are_not.equal("#!", entry.body:sub(1, 2))
      end
    end)

    it("an error says WEIR_STATE for a key of another type, and WEIR_INVALID for a bad argument", function()
      for name in pairs(three) do
        client:call("HSET", "{k}" .. name, "field", "value")
        assert.are.equal("WEIR_STATE", one(name, "1").err:sub(1, 10), name)
      end
      assert.are.equal("WEIR_INVALID rate", call("token_bucket", { "{k}other" }, { "0x5", MINUTE, "5" }).err:sub(1, 17))
    end)

    it("answers are the same in RESP3", function()
      for name in pairs(three) do
        local list = words(name, { "{k}" .. name }, three[name])
        for index = 2, #list do
          list[index] = "'" .. list[index] .. "'"
        end
        if name == "concurrency" then
          list[#list + 1] = "id"
        end
        local outputs = {}
        for version = 2, 3 do
          client:call("FLUSHALL")
          local pipe = io.popen(("redis-cli -%d -s %s %s"):format(version, running.path, table.concat(list, " ")))
          outputs[version] = pipe:read "*a"
          pipe:close()
        end
        -- reset_after of a window is what the clock makes of it; the first three are not.
        local function first(text)
          return text:match "^%d+\n%d+\n%d+\n"
        end
        assert.is_string(first(outputs[2]))
        assert.are.equal(first(outputs[2]), first(outputs[3]))
      end
    end)

    if kind.cluster then
      it("C059, C154: keys in different slots are refused by the server, and nothing is taken", function()
        local reply = call("all", { "{a}x", "{b}y" }, { "", "take", "min_gap", "2", "1000", "0", "1", "min_gap", "2", "1000", "0", "1" })
        assert.is_truthy(reply.err:find("CROSSSLOT", 1, true))
        assert.are.equal(0, client:call("EXISTS", "{a}x"))
      end)
    end

    it("C043, C044, C045: of a hundred calls sent at once on a fresh key, exactly ten pass", function()
      local many = {
        token_bucket = { "1", MINUTE, "10" }, leaky_bucket = { "1", MINUTE, "9" }, fixed_window = { "10", MINUTE, "0" },
        sliding_log = { "10", MINUTE, "0" }, sliding_counter = { "10", MINUTE, "1", "0" },
      }
      for name, parameters in pairs(many) do
        local connections, allowed = {}, 0
        for index = 1, 10 do
          connections[index] = running:connect()
        end
        local list = words(name, { "{k}" .. name }, parameters)
        if name == "fixed_window" then
          list[#list + 1], list[#list + 2], list[#list + 3] = "1", "take", "1784900000000000" -- one window for all
        end
        for _ = 1, 10 do
          for _, connection in ipairs(connections) do
            connection:send((table.unpack or unpack)(list))
          end
        end
        for _ = 1, 10 do
          for _, connection in ipairs(connections) do
            allowed = allowed + connection:read()[1]
          end
        end
        for _, connection in ipairs(connections) do
          connection:close()
        end
        assert.are.equal(10, allowed, name)
      end
    end)
  end)
end
