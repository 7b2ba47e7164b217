--- sliding_counter: estimate what passed in the last window from counts of slots.
--
-- KEYS[1]   the slots' counts
-- ARGV      limit, window_us, slots, strict (0 or 1)[, cost = 1[, op = take | peek | refund | charge[, now_us = the server's clock]]]
-- Reply     allowed, limit, remaining, retry_after_us (-1: never), reset_after_us, delay_us (0)
-- Writes    one SET with its TTL when allowed; nothing when refused
-- Commands  GET SET TIME

local keep = require "wire.keep"
local request = require "wire.request"
local take = require "wire.sliding_counter"
local value = require "wire.value"

local wrong, cost, op, now, slack = request(KEYS, ARGV, 4)
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
