--- row: from the numbers of a reply to rows: only those that an answer can have.
--
-- row.read(reply, verb, limit)     the row; nil when the reply is not the answer to this verb and limit
-- row.read_all(reply, checks)      the joint row, with its binding, and a row a check; nil as before
-- row.join(rows)                   the joint row of rows

local row = {}

local NUMBERS = 6
local TIME_MAX = 2 ^ 53

local asks = { take = true, peek = true, acquire = true }
local gives = { refund = true, charge = true }

local function in_range(value, least, most)
  return type(value) == "number" and value % 1 == 0 and value >= least and value <= most
end

-- allowed, limit, remaining, retry_after, reset_after, delay, from reply[first].
local function read(reply, first, limit)
  local allowed, most, remaining, retry_after_us, reset_after_us, delay_us =
    reply[first], reply[first + 1], reply[first + 2], reply[first + 3], reply[first + 4], reply[first + 5]
  if not in_range(allowed, 0, 1) or most ~= limit.limit or not in_range(remaining, 0, limit.limit)
    or not in_range(retry_after_us, -1, TIME_MAX) or not in_range(reset_after_us, 0, TIME_MAX)
    or not in_range(delay_us, 0, limit.algorithm == "leaky_bucket" and TIME_MAX or 0) then
    return nil
  end
  return {
    allowed = allowed == 1,
    limit = most,
    remaining = remaining,
    retry_after_us = retry_after_us,
    reset_after_us = reset_after_us,
    delay_us = delay_us,
    source = "store",
  }
end

function row.read(reply, verb, limit)
  local one = type(reply) == "table" and #reply >= NUMBERS and read(reply, 1, limit)
  if not one then
    return nil
  end
  local waits = one.retry_after_us ~= 0
  if asks[verb] then -- a refusal says how long, a pass never does
    return one.allowed ~= waits and one or nil
  end
  if waits or gives[verb] and not one.allowed then
    return nil
  end
  return one
end

-- Whether a wait is longer than another; never (-1) is longer than any.
local function longer(a, b)
  if a == -1 or b == -1 then
    return a == -1 and b ~= -1
  end
  return a > b
end

-- Refused, the longest wait binds; allowed, the least remaining; ties, the first.
function row.join(rows)
  local allowed, least, longest, delay_us = true, 1, 1, 0
  for i, one in ipairs(rows) do
    allowed = allowed and one.allowed
    least = one.remaining < rows[least].remaining and i or least
    longest = longer(one.retry_after_us, rows[longest].retry_after_us) and i or longest
    delay_us = math.max(delay_us, one.delay_us)
  end
  local binding = allowed and least or longest
  local joint = {}
  for field, value in pairs(rows[binding]) do
    joint[field] = value
  end
  joint.allowed, joint.binding = allowed, binding
  joint.remaining = rows[least].remaining
  joint.retry_after_us = allowed and 0 or rows[longest].retry_after_us
  joint.delay_us = allowed and delay_us or 0
  return joint
end

-- The server's own two numbers must say what the rows say.
function row.read_all(reply, checks)
  if type(reply) ~= "table" or #reply < 2 + #checks * NUMBERS then
    return nil
  end
  local rows = {}
  for i, check in ipairs(checks) do
    rows[i] = read(reply, 3 + (i - 1) * NUMBERS, check.limit)
    if not rows[i] then
      return nil
    end
  end
  local joint = row.join(rows)
  if reply[1] ~= (joint.allowed and 1 or 0) or reply[2] ~= joint.binding - 1 then
    return nil
  end
  return joint, rows
end

return row
