--- token_bucket: take tokens from a bucket that refills lazily.
--
-- KEYS[1]   the bucket
-- ARGV      rate, period_us, burst[, cost = 1[, op = take | peek | refund | charge[, now_us = the server's clock]]]
-- Reply     allowed, limit, remaining, retry_after_us (-1: never), reset_after_us, delay_us (0)
-- Writes    one SET with its TTL when allowed; nothing when refused
-- Commands  GET SET TIME

local clock = require "wire.clock"
local keep = require "wire.keep"
local request = require "wire.request"
local take = require "wire.token_bucket"
local value = require "wire.value"

local keys, arguments = KEYS, ARGV
local wrong, cost, op = request(keys, arguments, 3)
if wrong then
  return { err = wrong }
end
local wrong_now, now, slack = clock(arguments[6])
if wrong_now then
  return { err = wrong_now }
end
local wrong_type, state = value(keys[1])
if wrong_type then
  return { err = wrong_type }
end
local invalid, record, allowed, limit, remaining, retry_after, reset_after, delay =
  take(arguments, 1, state, cost, op, now)
if invalid then
  return { err = invalid }
end
if record then
  keep(keys[1], record, reset_after, slack)
end
return { allowed, limit, remaining, retry_after, reset_after, delay }
