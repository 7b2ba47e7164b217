--- min_gap: let one through a gap after the last.
--
-- KEYS[1]   the last event's instant
-- ARGV      gap_us, count_denied (0 or 1)[, cost = 1[, op = take | peek | refund | charge[, now_us = the server's clock]]]
-- Reply     allowed, limit (1), remaining, retry_after_us, reset_after_us, delay_us (0)
-- Writes    one SET with its TTL when allowed, or denied and counted; a DEL when refunded; else nothing
-- Commands  DEL GET SET TIME

local clock = require "wire.clock"
local keep = require "wire.keep"
local request = require "wire.request"
local take = require "wire.min_gap"
local value = require "wire.value"

local keys, arguments = KEYS, ARGV
local wrong, cost, op = request(keys, arguments, 2)
if wrong then
  return { err = wrong }
end
local wrong_now, now, slack = clock(arguments[5])
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
elseif record == false then
  redis.call("DEL", keys[1])
end
return { allowed, limit, remaining, retry_after, reset_after, delay }
