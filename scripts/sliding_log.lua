--- sliding_log: count what passed in the last window, exactly.
--
-- KEYS[1]   the log
-- ARGV      limit, window_us, count_denied (0 or 1)[, cost = 1[, op = take | peek | refund | charge[, now_us = the server's clock]]]
-- Reply     allowed, limit, remaining, retry_after_us (-1: never), reset_after_us, delay_us (0)
-- Writes    RPUSH when allowed, or denied and counted, LTRIM of what has expired, PEXPIRE; nothing when refused
-- Commands  LINDEX LLEN LTRIM PEXPIRE RPUSH TIME

local clock = require "wire.clock"
local keep_log = require "wire.keep_log"
local request = require "wire.request"
local take = require "wire.sliding_log"

local keys, arguments = KEYS, ARGV
local wrong, cost, op = request(keys, arguments, 3)
if wrong then
  return { err = wrong }
end
local wrong_now, now, slack = clock(arguments[6])
if wrong_now then
  return { err = wrong_now }
end
local invalid, length, from, kept, added, instant, allowed, limit, remaining, retry_after, reset_after =
  take(arguments, 1, keys[1], cost, op, now)
if invalid then
  return { err = invalid }
end
if from then
  keep_log(keys[1], length, from, kept, added, instant, reset_after, slack)
end
return { allowed, limit, remaining, retry_after, reset_after, 0 }
