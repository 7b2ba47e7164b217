--- chat: ten messages a minute, half a second between two; who keeps knocking stays out.
--
-- Reads request.user; request.address where there is no user.

local weir = require "weir"

local messages = weir.sliding_log { name = "messages", limit = 10, window = "1m", count_denied = true }
local gap = weir.min_gap { name = "gap", gap = "500ms", count_denied = true }

return function(request)
  local who = request.user or request.address
  return messages(who), gap(who)
end
