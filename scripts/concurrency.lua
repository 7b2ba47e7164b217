--- concurrency: hold a place until it is given back, or lapses.
--
-- KEYS[1]   the ids that hold a place
-- ARGV      limit, ttl_us, id[, op = acquire | renew | release | peek[, now_us = the server's clock]]
--           take is acquire; a peek with the id "" asks for a new one
-- Reply     allowed (renew, release: whether it was held), limit, remaining, retry_after_us (-1: never), reset_after_us, delay_us (0)
-- Writes    ZADD or ZREM of the id, ZREMRANGEBYSCORE of those that lapsed, PEXPIRE; nothing when refused or not held
-- Commands  PEXPIRE TIME ZADD ZCARD ZRANGE ZRANGEBYSCORE ZREM ZREMRANGEBYSCORE ZSCORE

local clock = require "wire.clock"
local keep_leases = require "wire.keep_leases"
local request = require "wire.lease"
local take = require "wire.concurrency"

local keys, arguments = KEYS, ARGV
local wrong, id, op = request(keys, arguments, 2)
if wrong then
  return { err = wrong }
end
local wrong_now, now, slack = clock(arguments[5])
if wrong_now then
  return { err = wrong_now }
end
local invalid, ttl, held, drop, ahead, allowed, limit, remaining, retry_after, reset_after =
  take(arguments, 1, keys[1], id, op, now)
if invalid then
  return { err = invalid }
end
keep_leases(keys[1], id, ttl, held, drop, ahead, now, reset_after, slack)
return { allowed, limit, remaining, retry_after, reset_after, 0 }
