--- login: five failures in 15 minutes, by the network of the address and by the account.
--
-- Reads request.address and request.user; afterwards response.success, true when the password was right. Each attempt
-- is taken before the password is looked at, so parallel guesses do not slip through, and given back when it was right.

local weir = require "weir"

local networks = weir.sliding_log { name = "login-network", limit = 5, window = "15m" }
local accounts = weir.sliding_log { name = "login-account", limit = 5, window = "15m" }

-- One person, one spelling: "Nick@Example.com " is nick@example.com.
local function account(request)
  return request.user and request.user:lower():match("^%s*(.-)%s*$")
end

return {
  request = function(request)
    return networks(weir.address(request.address, 64)), accounts(account(request))
  end,
  response = function(request, response)
    if response.allowed and response.success then
      networks:refund(weir.address(request.address, 64), 1)
      accounts:refund(account(request), 1)
    end
  end,
}
