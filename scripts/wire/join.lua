--- join: one answer from several: allowed when all are; the limit that binds has the longest wait, or least left.

-- Returns allowed and the index of the binding check, from 0; of several alike, the first.
return function(checks)
  local allowed, binding = 1, 1
  for _, check in ipairs(checks) do
    allowed = allowed * check.allowed
  end
  for index, check in ipairs(checks) do
    local bound = checks[binding]
    if allowed == 1 then
      if check.remaining < bound.remaining then
        binding = index
      end
    elseif bound.retry_after >= 0 and (check.retry_after < 0 or check.retry_after > bound.retry_after) then
      binding = index
    end
  end
  return allowed, binding - 1
end
