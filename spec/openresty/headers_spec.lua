--- The headers of an answer as nginx sends them and a client gets them.

local nginx = require "spec.openresty.support.nginx"

describe("headers in nginx", function()
  local server

  setup(function()
    server = nginx.start {
      http = [[
        init_by_lua_block {
          headers = require "resty.weir.headers"
          limit = require("resty.weir.limit").fixed_window { name = 'a "b" \\c', limit = 9, window = "1m" }
        }
      ]],
      server = [[
        location / {
          access_by_lua_block {
            local allowed = ngx.var.arg_wait == nil
            local answer = assert(headers.of(limit, {
              allowed = allowed, limit = 9, remaining = allowed and 5 or 0, delay_us = 0,
              retry_after_us = allowed and 0 or tonumber(ngx.var.arg_wait), reset_after_us = 30000000,
            }, nil, { body = true }))
            for name, value in pairs(answer.headers) do
              ngx.header[name] = value
            end
            if answer.status ~= 200 then
              ngx.status = answer.status
              ngx.header["Content-Type"] = answer.content_type
              ngx.print(answer.body)
              return ngx.exit(answer.status)
            end
          }
          content_by_lua_block { ngx.say "ok" }
        }
      ]],
    }
  end)

  teardown(function()
    server:stop()
  end)

  it("come with an answer that goes on", function()
    local status, body, headers = server:get "/"
    assert.same({ 200, "ok\n" }, { status, body })
    assert.equal([["a \"b\" \\c";q=9;w=60]], headers["ratelimit-policy"])
    assert.equal([["a \"b\" \\c";r=5;t=30]], headers["ratelimit"])
    assert.is_nil(headers["retry-after"])
  end)

  it("come with a refusal, whose body is theirs", function()
    local status, body, headers = server:get "/?wait=1900000"
    assert.equal(429, status)
    assert.equal("2", headers["retry-after"])
    assert.equal("no-store", headers["cache-control"])
    assert.equal("application/problem+json", headers["content-type"])
    assert.equal([["a \"b\" \\c";r=0;t=2]], headers["ratelimit"])
    assert.matches([["violated-policies":["a \"b\" \\c"]}]], body, 1, true)
  end)
end)
