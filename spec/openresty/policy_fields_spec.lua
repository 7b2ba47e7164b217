--- What a policy may read of the request that nginx serves.

local mime = require "mime"
local nginx = require "openresty.support.nginx"

describe("the fields that nginx gives a policy", function()
  local server

  setup(function()
    server = nginx.start { http = [[
      init_by_lua_block {
        local weir = require "resty.weir.policy"
]] .. "local text = [==[" .. [[
          local names = { "address", "user", "method", "path", "protocol", "referrer", "agent", "key", "plan" }
          return function(request)
            local all = {}
            for i, name in ipairs(names) do
              all[i] = name .. "=" .. (request[name] or "-")
            end
            return require "weir".deny(table.concat(all, " "))
          end
        ]] .. "]==]" .. [[
        local ours = assert(weir.open { text = text })
        local more = assert(weir.open { text = text, fields = { key = "http_x_api_key", plan = "arg_plan", path = false,
          agent = "no_such_variable" } })
        local short = assert(weir.open { text = text, field_size = 20 })
        local cutting = assert(weir.open { text = text, field_size = 20, cut_fields = true })
        local store = require "openresty.support.memory" ()
        local function say(policy)
          local outcome, message, code = policy:decide(store)
          ngx.say(outcome and outcome.reason or code .. " " .. message)
        end
        package.loaded.host = { ours = ours, more = more, short = short, cutting = cutting, say = say, store = store }
        package.loaded.host.early = table.concat({ tostring(ours:decide(store)), select(2, ours:decide(store)) }, " ")
      }
    ]], server = [[
      location / {
        content_by_lua_block { local host = require "host" host.say(host[ngx.var.http_x_policy or "ours"]) }
      }
      location /settle {
        access_by_lua_block {
          local weir = require "resty.weir.policy"
          ngx.ctx.policy = assert(weir.open { text = ]] .. "[==[" .. [[
            local weir = require "weir"
            local sizes = weir.fixed_window { name = "sizes", window = "1h", limit = 1000000 }
            return {
              request = function(request) return sizes(request.path, 0) end,
              response = function(request, response)
                if response.status == "200" then
                  sizes:charge(request.path, tonumber(response.size))
                end
              end,
            }
          ]] .. "]==]" .. [[ })
          ngx.ctx.before = ngx.ctx.policy:decide(require "host".store).remaining
        }
        content_by_lua_block { ngx.header.content_length = #tostring(ngx.ctx.before) ngx.print(ngx.ctx.before) }
        log_by_lua_block { assert(ngx.ctx.policy:respond(require "host".store, nil, nil, true)) }
      }
      location /timer {
        content_by_lua_block {
          local host = require "host"
          local request = assert(host.ours:request())
          local said = {}
          ngx.timer.at(0, function()
            said[1] = select(2, host.ours:decide(host.store)) .. " " .. host.ours:decide(host.store, request).reason
          end)
          while not said[1] do ngx.sleep(0.001) end
          ngx.say(said[1], " in init: ", host.early)
        }
      }
    ]], workers = 1 }
  end)

  teardown(function()
    server:stop()
  end)

  it("are those that a log of it would have", function()
    local _, said = server:get("/search?q=%20x", {
      Authorization = "Basic " .. mime.b64 "bob:secret", Referer = "http://example.com/", ["User-Agent"] = "spec",
    })
    assert.equal("address=127.0.0.1 user=bob method=GET path=/search?q=%20x protocol=HTTP/1.1 "
      .. "referrer=http://example.com/ agent=spec key=- plan=-\n", said)
  end)

  it("are nil where the client sent nothing, or nothing in it", function()
    local _, said = server:get("/", { ["User-Agent"] = "", Referer = "" })
    assert.equal("address=127.0.0.1 user=- method=GET path=/ protocol=HTTP/1.1 referrer=- agent=- key=- plan=-\n", said)
  end)

  it("are more or fewer as the option says", function()
    local _, said = server:get("/?plan=team", { ["X-Policy"] = "more", ["X-Api-Key"] = "k1" })
    assert.equal("address=127.0.0.1 user=- method=GET path=- protocol=HTTP/1.1 referrer=- agent=- key=k1 "
      .. "plan=team\n", said)
  end)

  it("are bounded, whatever the client sends", function()
    local path = "/" .. ("x"):rep(50)
    local _, said = server:get(path, { ["X-Policy"] = "short", ["User-Agent"] = "" })
    assert.matches("^WEIR_POLICY policy:5: field 'path' has 51 bytes; a policy may read 20", said)
    _, said = server:get(path, { ["X-Policy"] = "cutting", ["User-Agent"] = "" })
    assert.matches("path=/" .. ("x"):rep(19) .. " ", said, 1, true)
    _, said = server:get("/", { ["User-Agent"] = ("\1\255\""):rep(2000) })
    assert.matches("agent=%?%?", said)
  end)

  it("are kept for a timer, where nginx has no request", function()
    local _, said = server:get("/timer", { ["User-Agent"] = "spec" })
    assert.matches("request was nil; it must be a table of fields where nginx has no request", said, 1, true)
    assert.matches("path=/timer ", said, 1, true)
    assert.matches("in init: nil request was nil; it must be a table of fields where nginx has no", said, 1, true)
  end)

  it("of a response are its status and size", function()
    server:get "/settle"
    local _, second = server:get "/settle"
    assert.equal("999993", second)
  end)
end)
