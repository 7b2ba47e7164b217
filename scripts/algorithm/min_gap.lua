--- min_gap: the state is the instant of the last event; the next may come a gap later.

-- last: nil when there was none. Returns last to record (nil: record nothing; false: forget it),
-- then allowed, remaining, retry_after, reset_after.
return function(last, gap, count_denied, now, cost, op)
  local judges = op ~= "refund" and op ~= "charge"
  local record
  if last and last > now + gap then
    last, record = now, true
  end
  local wait = 0
  if last and now - last < gap then
    wait = last + gap - now
  end

  local allowed, retry_after, event = 1, 0, false
  if judges then
    if cost > 0 then
      if wait > 0 then
        allowed = 0
      end
      event = op == "take" and allowed == 1 or op ~= "peek" and count_denied
    end
  elseif op == "charge" then
    event, record = cost > 0, false
  else
    record = false
    if cost > 0 and last then -- live or not: it may lie ahead of a later caller
      return false, 1, 1, 0, 0
    end
  end
  if event then
    if wait == 0 or last < now then
      last = now
    end
    wait, record = last + gap - now, true
  end
  if judges and cost > 0 and (allowed == 0 or op == "refuse") then
    retry_after = wait
  end
  local remaining = 1
  if wait > 0 then
    remaining = 0
  end
  if record and op ~= "peek" then
    return last, allowed, remaining, retry_after, wait
  end
  return nil, allowed, remaining, retry_after, wait
end
