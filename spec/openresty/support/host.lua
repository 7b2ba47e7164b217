--- host: nginx with limiters of a test's own, each served under its name.
--
-- host.start { limiters = "return { login = weir.access { ... } }, { limits by name }", server = "location ...",
--              http = "settings", workers = 1, listen = "http2" }
--
-- The text of limiters runs in init_by_lua, with `weir` and `store` (shared by the workers) in reach, and `at`, which
-- is the store at the time that a request's header Now says, in microseconds: only this host understands it. A request
-- of /login/anything then asks the limiter `login`, and is answered "served". With host.tell_waits() in the text, what
-- a limiter waits is not waited but told in the header Slept.

local nginx = require "spec.openresty.support.nginx"

local host = {}

local http = [[
    lua_shared_dict flags 1m;
    %(http)
    init_by_lua_block {
        host = require "spec.openresty.support.inside"
        weir = require "resty.weir"
        limiters, host.limits = (function(store, at)
            %(limiters)
        end)(host.store, host.at)
    }
    log_by_lua_block { weir.log() }
]]

local server = [[
        location ~ ^/(?<limiter>[a-z_0-9]+) {
            access_by_lua_block { limiters[ngx.var.limiter]() }
            content_by_lua_block { ngx.say("served") }
        }
        location ^~ /hold/ {
            lua_check_client_abort on;
            access_by_lua_block { limiters[ngx.var.arg_by]() }
            content_by_lua_block { host.hold() }
        }
        location = /let_go { content_by_lua_block { ngx.shared.flags:set("let_go", true) } }
        location = /hold_on { content_by_lua_block { ngx.shared.flags:delete("let_go") } }
        location = /store { content_by_lua_block { host.call() } }
        %(server)
]]

local function fill(template, words)
  return (template:gsub("%%%((%w+)%)", function(name)
    return words[name] or ""
  end))
end

function host.start(options)
  return nginx.start {
    workers = options.workers or 1,
    listen = options.listen,
    http = fill(http, options),
    server = fill(server, options),
  }
end

return host
