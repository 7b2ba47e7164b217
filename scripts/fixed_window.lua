--- fixed_window: count to a limit in windows that start at k x window - offset.
--
-- KEYS[1]   the window and its count
-- ARGV      limit, window_us, offset_us[, cost = 1[, op = take | peek | refund | charge[, now_us = the server's clock]]]
-- Reply     allowed, limit, remaining, retry_after_us (-1: never), reset_after_us, delay_us (0)
-- Writes    one SET with its TTL when allowed; nothing when refused
-- Commands  GET SET TIME

local keep = require "wire.keep"
local request = require "wire.request"
local take = require "wire.fixed_window"
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
