-- luajit in_luajit.lua BUILD: a JSON list of cases on stdin, a JSON list of answers on stdout.

local build = arg[1]
package.path = "bindings/openresty/lib/?.lua;lua/?.lua;./?.lua;" .. package.path
package.cpath = build .. "/?.so;" .. package.cpath

local headers = require "resty.weir.headers"
local json = require "dkjson"
local run = require "spec.weir.headers.case"
local words = require "resty.weir.limit"

local answers = {}
for i, case in ipairs(json.decode(io.read "*a")) do
  local answer, message, code = run(words, headers.of, case)
  answers[i] = answer or { message = message, code = code }
end
print(json.encode(answers))
