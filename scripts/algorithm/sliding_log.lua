--- sliding_log: the instants of what passed in the last window, oldest first, decided at their ends.

local search = require "algorithm.search"

-- at(index) is the recorded instant at index, from 0 to count - 1.
-- Returns what to record: keep `kept` entries from index `from` on, then add `added` at `instant`
-- (from nil: record nothing); then allowed, remaining, retry_after, reset_after.
return function(count, at, limit, window, count_denied, now, cost, op)
  local judges = op ~= "refund" and op ~= "charge"
  if limit == 0 then
    if judges and cost > 0 then
      return nil, nil, nil, nil, 0, 0, -1, 0
    end
    return nil, nil, nil, nil, 1, 0, 0, 0
  end

  -- Of the recorded entries [first, count) are live, and the last `ahead` of them become now.
  local first, ahead, newest = 0, 0, 0
  if count > limit then
    first = count - limit
  end
  if count > 0 then
    newest = at(count - 1)
    if newest > now + window then
      local late = search(at, first, count, now)
      ahead, newest = count - late, now
    end
    first = search(at, first, count - ahead, now - window)
  end
  local live, instant = count - first, now
  if newest > now then
    instant = newest
  end

  local allowed, retry_after, record, adding, total = 1, 0, ahead > 0, 0, live
  if judges then
    if cost > 0 and live + cost > limit then
      allowed = 0
    end
    if cost <= limit and (op == "take" and allowed == 1 or op ~= "peek" and count_denied) then
      adding = cost
    end
    record = (record or adding > 0) and op ~= "peek"
  elseif op == "charge" then
    adding = cost
    if cost > limit then
      adding = limit
    end
    record = adding > 0
  else
    record = cost > 0 and live > 0
    total = live - cost
    if total < 0 then
      total = 0
    end
  end
  if adding > 0 then
    total = live + adding
    if total > limit then
      total = limit
    end
  end

  if judges and (allowed == 0 or op == "refuse") then
    local leaving = total + cost - limit
    if cost > limit then
      retry_after = -1
    elseif cost > 0 and leaving > 0 then
      -- The last of those that must expire, in the sequence of the recorded and the added ones.
      local index, expiring = count + adding - total + leaving - 1, instant
      if index < count - ahead then
        expiring = at(index)
      elseif index < count then
        expiring = now
      end
      retry_after = expiring + window - now
    end
  end

  local reset_after = 0
  if total > 0 then
    if adding > 0 then
      newest = instant
    elseif total < live and first + total - 1 < count - ahead then
      newest = at(first + total - 1)
    end
    reset_after = newest + window - now
  end
  if not record then
    return nil, nil, nil, nil, allowed, limit - total, retry_after, reset_after
  end
  local from = first
  if live + adding > limit then
    from = first + live + adding - limit
  end
  local kept = count - ahead - from
  if kept > total then
    kept = total
  elseif kept < 0 then
    kept = 0
  end
  return from, kept, total - kept, instant, allowed, limit - total, retry_after, reset_after
end
