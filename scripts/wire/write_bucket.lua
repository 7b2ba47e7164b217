--- write_bucket: the text that read_bucket reads.

local digits = require "wire.digits"

return function(full_at, part, over)
  local record = digits(full_at)
  if part > 0 then
    record = string.format("%s %.0f/%.0f", record, part, over)
  end
  return record
end
