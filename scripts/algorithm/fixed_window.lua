--- fixed_window: a count that starts anew at every k x window - offset.

-- The start of the window that was counted in, or nil, and its count.
-- Returns start and count to record (nil: record nothing), then allowed, remaining, retry_after,
-- reset_after.
return function(start, count, limit, window, offset, now, cost, op)
  local judges = op ~= "refund" and op ~= "charge"
  if limit == 0 then
    if judges and cost > 0 then
      return nil, nil, 0, 0, -1, 0
    end
    return nil, nil, 1, 0, 0, 0
  end

  local current, used, record = now - (now + offset) % window, 0, false
  if start then
    start = start - (start + offset) % window
    if start >= current then
      used = count
      if start == current + window then
        current = start
      elseif start > current then
        record = true
      end
    end
  end

  local allowed, retry_after = 1, 0
  local wait = current + window - now
  if judges then
    if cost > limit then
      allowed, retry_after = 0, -1
    elseif cost > 0 then
      if used + cost > limit then
        allowed, retry_after = 0, wait
      elseif op == "take" then
        used, record = used + cost, true
      end
    end
    record = record and op ~= "peek"
  elseif op == "charge" then
    record = cost > 0
    used = used + cost
    if used > 2^50 then
      used = 2^50
    end
  else
    record = cost > 0 and used > 0
    used = used - cost
    if used < 0 then
      used = 0
    end
  end

  local remaining = limit - used
  if remaining < 0 then
    remaining = 0
  end
  if used == 0 then
    wait = 0
  end
  if record then
    return current, used, allowed, remaining, retry_after, wait
  end
  return nil, nil, allowed, remaining, retry_after, wait
end
