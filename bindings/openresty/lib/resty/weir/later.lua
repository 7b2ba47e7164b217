--- later: work of the log phase that needs sockets, done right after it by a few timers.
--
-- later.run(f, argument)   true; or nil, message, code when it can't be done, which is also logged and counted
-- later.counters()         { waiting, done, dropped } of this worker
--
-- Timers are few in nginx, and one beyond lua_max_running_timers is dropped without a word to its owner. So the work
-- waits in a queue of bounded length, and each timer does a good part of it. What is dropped is no disaster: leases
-- lapse, and what was not refunded stays taken.

local ngx = ngx

local QUEUE_MAX = 8192
local TIMERS_MAX = 16
local WORK_MAX = 64 -- of one timer, whose memory nginx frees only when it has ended

local queue, first, past = {}, 1, 1
local timers, done, dropped = 0, 0, 0

local function drop(count, why)
  dropped = dropped + count
  local message = ("what %d requests took could not be given back: %s"):format(count, why)
  ngx.log(ngx.ERR, "weir: ", message)
  return nil, message, "WEIR_NOT_EXECUTED"
end

local work_off

-- Timers that run do the work of one that can't be had; without any, nobody would.
local function add_timer()
  local ok, why = ngx.timer.at(0, work_off)
  if ok then
    timers = timers + 1
  elseif timers == 0 then
    local count = past - first
    queue, first, past = {}, 1, 1
    return drop(count, why)
  end
  return true
end

-- A timer is premature when its worker ends, which has still to give back what its requests took.
function work_off()
  local last = first + WORK_MAX
  while first < past and first < last do
    local work = queue[first]
    queue[first] = nil
    first = first + 1
    local ok, message = pcall(work.f, work.argument)
    done = done + 1
    if not ok then
      ngx.log(ngx.ERR, "weir: ", message)
    end
  end
  timers = timers - 1
  if first < past then
    add_timer()
  end
end

local later = {}

function later.run(f, argument)
  if past - first >= QUEUE_MAX then
    return drop(1, ("%d others wait already"):format(QUEUE_MAX))
  end
  queue[past] = { f = f, argument = argument }
  past = past + 1
  return timers >= TIMERS_MAX or add_timer()
end

function later.counters()
  return { waiting = past - first, done = done, dropped = dropped }
end

return later
