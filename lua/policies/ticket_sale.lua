--- ticket_sale: buyers wait their turn in a queue, and each may buy four tickets a day, in UTC+9.
--
-- Reads request.event, request.buyer and request.tickets (a number; 1 when missing). An allowed buyer waits for the
-- decision's delay before the sale goes on.

local weir = require "weir"

local queue = weir.leaky_bucket { name = "queue", rate = "20/s", queue = 600 }
local quota = weir.fixed_window { name = "quota", limit = 4, window = "1d", offset = "9h" }

return function(request)
  local tickets = tonumber(request.tickets or 1)
  if not tickets or tickets < 1 then
    return weir.deny("how many tickets?")
  end
  return queue(request.event), quota(request.buyer, tickets)
end
