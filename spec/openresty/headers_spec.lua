--- The headers of an answer as nginx sends them and a client gets them.

local nginx = require "spec.openresty.support.nginx"
local url = require "socket.url"

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
        location = /of {
          content_by_lua_block {
            local given = assert(loadstring("return " .. ngx.unescape_uri(ngx.var.arg_given)))
            row = { allowed = true, limit = 9, remaining = 5, retry_after_us = 0, reset_after_us = 0, delay_us = 0 }
            function with(name, value)
              return setmetatable({ [name] = value }, { __index = row })
            end
            function many(count, value)
              local list = {}
              for i = 1, count do list[i] = value end
              return list
            end
            local answer, message, code = headers.of(given())
            ngx.print(answer and "answered" or code .. ": " .. message)
          }
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

  it("are made of nothing that can't be theirs, and say what it was", function()
    local wrong = {
      ["nil, row"] = "limits was nil; it must be a limit, or a list of limits or checks",
      ["{ 7 }, row"] = "limits[1] was 7; it must be a limit, or a check, which limit(key) makes",
      ["limit"] = "decision was nil; it must be what a store answers, with `allowed`",
      ["limit, with('limit', 8)"] = "must be 9, or the row is another's",
      ["limit, with('remaining', 0.5)"] = "rows[1]: remaining was 0.5; it must be a whole number",
      ["limit, with('reset_after_us', false)"] = "rows[1]: reset_after_us was false; it must be a whole number",
      ["limit, with('retry_after_us', -2)"] = "retry_after_us was -2; it must be a whole number",
      ["limit, with('source', 'me')"] = "it must be store, deny_on_error or allow_on_error",
      ["limit, with('binding', 0)"] = "binding was 0; it must be the place of a row, from 1",
      ["limit, with('binding', 2)"] = "binding was 1; it must be the place of a check",
      ["{ limit, limit }, row, { row }"] = "it must be a list of one row a limit",
      ["many(33, limit), row, many(33, row)"] = "the number of limits was 33; it must be at most 32",
      ["limit, row, nil, 7"] = "options was 7; it must be a table such as",
      ["limit, row, nil, { colour = 1 }"] = "it must be form, body, units, partition_key or now_us",
      ["limit, row, nil, { form = 'draft_99' }"] = "draft_99",
      ["limit, row, nil, { body = 1 }"] = "body was 1; it must be true or false",
      ["limit, row, nil, { now_us = -1 }"] = "now_us was -1; it must be a whole number",
      ["limit, row, nil, { units = { [limit.name] = 7 } }"] = "was 7; it must be 1 to 64 printable ASCII characters",
      ["limit, row, nil, { partition_key = true }"] = "was empty; to tell it, it must have at least",
      ["{ limit(false) }, row"] = "limits[1]'s key was false; it must be text or a whole number",
    }
    for given, sentence in pairs(wrong) do
      local status, body = server:get("/of?given=" .. url.escape(given))
      assert.equal(200, status)
      assert.equal("WEIR_INVALID: ", body:sub(1, 14), given)
      assert.truthy(body:find(sentence, 1, true), body)
    end
    local right = {
      "limit, row", "{}, { allowed = false }", "many(32, limit), row, many(32, row)", "{ limit('key') }, row",
      "{ limit('key') }, row, nil, { partition_key = true }", "{ limit, limit }, row, { row, { shadow = true } }",
    }
    for _, given in ipairs(right) do
      local _, body = server:get("/of?given=" .. url.escape(given))
      assert.equal("answered", body, given)
    end
  end)
end)
