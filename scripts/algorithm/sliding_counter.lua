--- sliding_counter: counts of slots, where the oldest counts for the part of it still in the window.

local scale = require "algorithm.scale"

-- The start of the newest slot, or nil, and the counts, newest first; those left out are 0.
-- Returns start and counts to record (nil: record nothing), then allowed, remaining, retry_after,
-- reset_after.
return function(start, counts, limit, window, slots, strict, now, cost, op)
  local judges = op ~= "refund" and op ~= "charge"
  if limit == 0 then
    if judges and cost > 0 then
      return nil, nil, 0, 0, -1, 0
    end
    return nil, nil, 1, 0, 0, 0
  end

  local width = window / slots
  local judged, passed, record = now - now % width, slots + 1, false
  local elapsed = now - judged
  if start then
    start = start - start % width
    passed = (judged - start) / width
    if passed < -slots then
      record = true
    elseif passed < 0 then
      judged, elapsed = start, 0
    end
    if passed < 0 then
      passed = 0
    end
  end
  local count, newest, whole = {}, nil, 0
  for slot = 1, slots + 1 do
    local used = 0
    if slot > passed then
      used = counts[slot - passed] or 0
    end
    count[slot] = used
    if slot <= slots then
      whole = whole + used
    end
    if used > 0 and not newest then
      newest = slot
    end
  end
  local oldest = count[slots + 1]
  if oldest > 0 and not strict then
    oldest = scale(oldest, width - elapsed, width)
  end

  local allowed, retry_after = 1, 0
  if judges then
    if cost > limit then
      allowed, retry_after = 0, -1
    elseif cost > 0 then
      if whole + oldest + cost > limit then
        allowed = 0
      elseif op == "take" then
        count[1], whole, newest, record = count[1] + cost, whole + cost, 1, true
      end
    end
    record = record and op ~= "peek"
  elseif op == "charge" then
    record = cost > 0
    if record then
      whole = whole - count[1]
      count[1], newest = count[1] + cost, 1
      if count[1] > 2^50 then
        count[1] = 2^50
      end
      whole = whole + count[1]
    end
  else
    record = cost > 0 and count[1] > 0
    if record then
      local back = cost
      if back > count[1] then
        back = count[1]
      end
      count[1], whole = count[1] - back, whole - back
      while newest and newest <= slots + 1 and count[newest] == 0 do
        newest = newest + 1
      end
      if newest > slots + 1 then
        newest = nil
      end
    end
  end

  if allowed == 0 and retry_after == 0 then
    -- Sums from the newest slot on stay exact as far as they matter; then slot by slot, until the
    -- counts that are still wholly inside leave room and the oldest has shrunk to fit it.
    local inside = { [0] = 0, [-1] = 0 }
    for slot = 1, slots do
      inside[slot] = inside[slot - 1] + count[slot]
    end
    for later = 0, slots + 1 do
      local room, leaving = limit - cost - inside[slots - later], count[slots + 1 - later] or 0
      if room >= 0 then
        local left
        if leaving <= room then
          left = width
        elseif not strict then
          local most, rest = scale(room + 1, width, leaving)
          left = most
          if rest == 0 then
            left = most - 1
          end
        end
        if left and left > 0 then
          retry_after = judged + (later + 1) * width - left - now
          break
        end
      end
    end
  end

  local remaining, reset_after = limit - whole - oldest, 0
  if remaining < 0 then
    remaining = 0
  end
  if newest then
    reset_after = judged + (slots + 2 - newest) * width - now
  end
  if record then
    return judged, count, allowed, remaining, retry_after, reset_after
  end
  return nil, nil, allowed, remaining, retry_after, reset_after
end
