--- concurrency: hold a place until it is given back, or lapses.
--
-- KEYS[1]   the ids that hold a place
-- ARGV      limit, ttl_us, id[, op = acquire | renew | release | peek[, now_us = the server's clock]]
--           take is acquire; a peek with the id "" asks for a new one
-- Reply     allowed (renew, release: whether it was held), limit, remaining, retry_after_us (-1: never), reset_after_us, delay_us (0)
-- Writes    ZADD or ZREM of the id, ZREMRANGEBYSCORE of those that lapsed, PEXPIRE; nothing when refused or not held
-- Commands  PEXPIRE TIME ZADD ZCARD ZRANGE ZRANGEBYSCORE ZREM ZREMRANGEBYSCORE ZSCORE

local keep_leases = require "wire.keep_leases"
local request = require "wire.lease"
local take = require "wire.concurrency"

local wrong, id, op, now, slack = request(KEYS, ARGV, 2)
if wrong then
  return { err = wrong }
end
local ttl, held, drop, ahead, allowed, limit, remaining, retry_after, reset_after
wrong, ttl, held, drop, ahead, allowed, limit, remaining, retry_after, reset_after =
  take(ARGV, 1, KEYS[1], id, op, now)
if wrong then
  return { err = wrong }
end
keep_leases(KEYS[1], id, ttl, held, drop, ahead, now, reset_after, slack)
return { allowed, limit, remaining, retry_after, reset_after, 0 }
