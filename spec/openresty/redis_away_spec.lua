--- A Redis server that stalls and is killed under load: every request has its answer, in time, by its limiter's
-- on_error and never another's; what was counted was counted once, and no key lets more pass than its limit.

local clients = require "spec.openresty.support.clients"
local json = require "dkjson"
local load = require "spec.openresty.support.load"
local nginx = require "spec.openresty.support.nginx"
local redis = require "spec.openresty.support.redis"

local ROUNDS = 2
local TOGETHER = 64
local ONE, FEW = 2 ^ 31, 1000

describe("while a Redis server stalls, is killed and comes back,", function()
  local server, host

  -- The server keeps a log that it writes before it answers, so that it has forgotten nothing when it is back.
  setup(function()
    server = redis.start "--appendonly yes --appendfsync no"
    host = nginx.start { workers = 2, http = ([[
      lua_socket_log_errors off;
      lua_shared_dict book 1m;
      init_by_lua_block {
        away = require "spec.openresty.support.away_inside"
        json = require "dkjson"
        away.open("error", "redis://127.0.0.1:%d")
        away.open("deny", "%s")
        away.open("allow", "redis://127.0.0.1:%d/0?name=allow")
      }
    ]]):format(server.port, server.url, server.port), server = [[
      location = /ask {
        access_by_lua_block { away.ask(ngx.var.arg_by) }
        content_by_lua_block { ngx.say "served" }
        log_by_lua_block { away.answered(ngx.var.arg_by) }
      }
      location = /book { content_by_lua_block { ngx.say(json.encode(away.book(ngx.var.arg_by))) } }
      location = /left { content_by_lua_block { ngx.print(away.left(ngx.var.arg_by, ngx.var.arg_kind)) } }
    ]] }
  end)

  teardown(function()
    host:stop()
    server:close()
  end)

  -- The book of the mode's requests, in which what never was is 0.
  local function read_book(mode)
    local _, body = host:get("/book?by=" .. mode)
    return setmetatable(json.decode(body), { __index = function()
      return 0
    end })
  end

  local function until_more(mode, names, count)
    local before = read_book(mode)
    nginx.until_true(function()
      local book = read_book(mode)
      for _, name in ipairs(names) do
        if book[name] < before[name] + count then
          return false
        end
      end
      return true
    end, ("there are not %d more of %s"):format(count, table.concat(names, " and ")))
  end

  local function left(mode, kind)
    local status, body = host:get(("/left?by=%s&kind=%s"):format(mode, kind))
    assert.equal(200, status)
    return tonumber(body)
  end

  -- As many requests at once as take every idle connection that is left.
  local function ask_together(mode)
    local requests = {}
    for i = 1, TOGETHER do
      requests[i] = clients.send(host, "/ask?by=" .. mode)
    end
    for _, request in ipairs(requests) do
      assert.is_number((request:answer()))
    end
  end

  -- What the server had read when it stalled, it runs when it goes on, though nobody waits for it.
  local function stall(mode)
    server:pause()
    until_more(mode, { "undecided" }, 3 * load.CONNECTIONS)
    server:resume()
    until_more(mode, { "passed own", "passed one" }, 100)
  end

  -- Loads the limiter while the server goes and comes. Gives how many answers the clients have had.
  local function run(mode)
    local crowd = load.start(host, "/ask?by=" .. mode)
    until_more(mode, { "passed own", "passed one", "passed few" }, 300)
    for _ = 1, ROUNDS do
      stall(mode)
      stall(mode)
      server:stop()
      until_more(mode, { "undecided own", "undecided one" }, 100)
      server:start()
      until_more(mode, { "passed own", "passed one", "refused few" }, 300)
    end
    local answers, _, lost = crowd:stop()
    assert.equal(0, lost, "every client has its answers")
    ask_together(mode)
    nginx.until_true(function()
      local book = read_book(mode)
      return book["answered 200"] + book["answered 429"] + book["answered 503"] == book.asked
    end, "a request has no answer, or one that is none of 200, 429 and 503")
    return answers + TOGETHER
  end

  for _, mode in ipairs { "error", "deny", "allow" } do
    it(("C172 each request has an answer of its own, in time, as on_error = %q has it"):format(mode), function()
      local answers = run(mode)
      local book = read_book(mode)
      assert.truthy(answers <= book.asked and book.asked <= answers + load.CONNECTIONS)
      local passes = mode == "allow"
      assert.same({ book.passed + (passes and book.undecided or 0), book.refused, passes and 0 or book.undecided },
        { book["answered 200"], book["answered 429"], book["answered 503"] })
      assert.same({ late = 0, foreign = 0, own = 0, one = 0 },
        { late = book.late, foreign = book.foreign, own = book["refused own"], one = book["refused one"] })

      -- A request without an answer was counted once or not at all, and not when its code says that it was not.
      for kind, most in pairs { one = ONE, few = FEW } do
        local counted = most - left(mode, kind)
        local passed, sent = book["passed " .. kind], book["WEIR_INDETERMINATE " .. kind]
        local sentence = ("%s: %d passed, %d may have been counted, %d were"):format(kind, passed, sent, counted)
        assert.truthy(passed <= counted and counted <= passed + sent, sentence)
        assert.equal(book["undecided " .. kind],
          sent + book["WEIR_NOT_EXECUTED " .. kind] + book["WEIR_LOADING " .. kind])
      end
      assert.equal(0, left(mode, "few"))
    end)
  end
end)
