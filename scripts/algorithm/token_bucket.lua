--- token_bucket: the state is one instant, when the bucket is full again.
--
-- A span is whole microseconds and a numerator over the reduced rate: 1/3 us stays 1/3 us.

local scale = require "algorithm.scale"

-- Full at full_at + part / over microseconds; nil, a bucket that was never touched.
-- Returns the same three to record (nil: record nothing), then allowed, remaining, retry_after,
-- reset_after, and how long the bucket would have needed to fill before this call.
return function(full_at, part, over, rate, period, burst, now, cost, op)
  if burst == 0 then
    if cost > 0 and op ~= "refund" and op ~= "charge" then
      return nil, nil, nil, 0, 0, -1, 0, 0
    end
    return nil, nil, nil, 1, 0, 0, 0, 0
  end

  -- One unit of cost is unit / below microseconds, reduced. Assignments stand one by one: Lua moves
  -- the values of a list twice.
  local unit, below, span, span_part, need, need_part
  local rest = period % rate
  if rest == 0 then
    unit = period / rate
    below = 1
    span = burst * unit
    span_part = 0
    need = cost * unit
    need_part = 0
  else
    local divisor = rate
    while rest > 0 do
      divisor, rest = rest, divisor % rest
    end
    unit = period / divisor
    below = rate / divisor
    local counted = cost
    if cost > 2 * burst then
      counted = 2 * burst -- no more can be owed
    end
    span, span_part = scale(burst, unit, below)
    need, need_part = scale(counted, unit, below)
  end

  -- What is owed now; more than two spans is the work of a clock that has stepped.
  local debt, debt_part, record = 0, 0, false
  if full_at and full_at >= now then
    debt = full_at - now
    debt_part = part
    if part > 0 and over ~= below then
      debt = debt + 1
      debt_part = 0
    end
    if debt > span then
      local most, most_part = 2 * span, 2 * span_part
      if most_part >= below then
        most, most_part = most + 1, most_part - below
      end
      if debt > most or debt == most and debt_part > most_part then
        debt, debt_part, record = span, span_part, op ~= "peek"
      end
    end
  end

  local allowed, retry_after, waiting = 1, 0, debt
  if debt_part > 0 then
    waiting = debt + 1
  end
  if op ~= "refund" and op ~= "charge" then
    -- The most that the bucket may owe for this cost to pass.
    local room, room_part = span - need, span_part - need_part
    if room_part < 0 then
      room, room_part = room - 1, room_part + below
    end
    if cost > burst then
      allowed, retry_after = 0, -1
    elseif cost > 0 then
      if debt > room or debt == room and debt_part > room_part then
        allowed, retry_after = 0, debt - room
        if debt_part > room_part then
          retry_after = retry_after + 1
        end
      elseif op == "take" then
        record = true
        debt = debt + need
        debt_part = debt_part + need_part
        if debt_part >= below then
          debt, debt_part = debt + 1, debt_part - below
        end
      end
    end
  elseif op == "charge" then
    record = cost > 0
    if record then
      debt, debt_part = debt + need, debt_part + need_part
      if debt_part >= below then
        debt, debt_part = debt + 1, debt_part - below
      end
      local most, most_part = 2 * span, 2 * span_part
      if most_part >= below then
        most, most_part = most + 1, most_part - below
      end
      if debt > most or debt == most and debt_part > most_part then
        debt, debt_part = most, most_part
      end
    end
  else
    record = cost > 0 and waiting > 0
    if record then
      debt, debt_part = debt - need, debt_part - need_part
      if debt_part < 0 then
        debt, debt_part = debt - 1, debt_part + below
      end
      if debt < 0 then
        debt, debt_part = 0, 0
      end
    end
  end

  local remaining, reset_after = 0, debt
  if debt_part > 0 then
    reset_after = debt + 1
  end
  if below == 1 then
    local left = span - debt
    if left > 0 then
      remaining = (left - left % unit) / unit
    end
  else
    local used, left = scale(debt, below, unit)
    left = left + debt_part + unit - 1
    used = used + (left - left % unit) / unit
    if used < burst then
      remaining = burst - used
    end
  end
  if record then
    return now + debt, debt_part, below, allowed, remaining, retry_after, reset_after, waiting
  end
  return nil, nil, nil, allowed, remaining, retry_after, reset_after, waiting
end
