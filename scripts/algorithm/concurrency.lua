--- concurrency: ids that hold a place, each until the instant at which it lapses.

local search = require "algorithm.search"

-- at(index) is the index-th instant of lapse in order, from 0 to count - 1; lease is that of this
-- id, or nil. Returns what to record: `held`, the id's new instant (false: it is given back; nil:
-- as it was); `drop`, whether lapsed ids go; `ahead`, how many lapse more than two ttl ahead and
-- become now + ttl; then allowed, remaining, retry_after, reset_after.
return function(count, at, lease, limit, ttl, now, op)
  local takes = op ~= "renew" and op ~= "release"
  if limit == 0 then
    if takes then
      return nil, false, 0, 0, 0, -1, 0
    end
    return nil, false, 0, 0, 0, 0, 0
  end

  -- In order, [0, lapsed) have lapsed, [lapsed, known) are as recorded, [known, count) are ahead.
  local lapsed, known, fresh = 0, count, now + ttl
  if count > 0 then
    if at(count - 1) > now + 2 * ttl then
      known = search(at, 0, count, now + 2 * ttl)
    end
    lapsed = search(at, 0, known, now)
  end
  local live, ahead, again = count - lapsed, count - known, count - known
  if lease and lease <= now then
    lease = nil
  end

  local allowed, retry_after, held, drop = 1, 0, nil, false
  if lease then
    if op == "release" then
      held, live = false, live - 1
      if lease > now + 2 * ttl then
        again = again - 1
      elseif lease == at(known - 1) then
        known = known - 1
      end
    elseif op ~= "peek" and op ~= "refuse" then
      held = fresh
      if lease > fresh and lease <= now + 2 * ttl then
        held = lease
      end
    end
  elseif not takes then
    allowed = 0
  elseif live < limit then
    if op ~= "peek" and op ~= "refuse" then
      held, live = fresh, live + 1
    end
  else
    -- Those ahead will lapse at `fresh`, which may be before some that are as recorded.
    allowed = 0
    local index, lapses = lapsed + live - limit, nil
    if ahead > 0 then
      local before = search(at, lapsed, known, fresh)
      if index >= before then
        if index < before + ahead then
          lapses = fresh
        else
          index = index - ahead
        end
      end
    end
    retry_after = (lapses or at(index)) - now
  end
  if op == "peek" then
    ahead = 0
  end
  if held ~= nil or ahead > 0 then
    drop = lapsed > 0 -- what records at all records what is live
  end

  local last = now
  if held then
    last = held
  end
  if again > 0 and last < fresh then
    last = fresh
  end
  if known > lapsed then
    local recorded = at(known - 1)
    if recorded > last then
      last = recorded
    end
  end
  local remaining = limit - live
  if remaining < 0 then
    remaining = 0
  end
  return held, drop, ahead, allowed, remaining, retry_after, last - now
end
