--- leaky_bucket: a queue that lets one through every period / rate.
--
-- KEYS[1]   the queue
-- ARGV      rate, period_us, queue[, cost = 1[, op = take | peek | refund | charge[, now_us = the server's clock]]]
-- Reply     allowed, limit (queue + 1), remaining, retry_after_us (-1: never), reset_after_us, delay_us (how long to wait for one's turn)
-- Writes    one SET with its TTL when allowed; nothing when refused
-- Commands  GET SET TIME

local keep = require "wire.keep"
local request = require "wire.request"
local take = require "wire.leaky_bucket"
local value = require "wire.value"

local wrong, cost, op, now, slack = request(KEYS, ARGV, 3)
if wrong then
  return { err = wrong }
end
local state
wrong, state = value(KEYS[1])
if wrong then
  return { err = wrong }
end
local record, allowed, limit, remaining, retry_after, reset_after, delay
wrong, record, allowed, limit, remaining, retry_after, reset_after, delay =
  take(ARGV, 1, state, cost, op, now)
if wrong then
  return { err = wrong }
end
if record then
  keep(KEYS[1], record, reset_after, slack)
end
return { allowed, limit, remaining, retry_after, reset_after, delay }
