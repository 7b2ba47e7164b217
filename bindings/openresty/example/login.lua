--- login: three failures a minute from one network. An attempt that was right is given back.

local weir = require "weir"

local failures = weir.sliding_log { name = "failures", limit = 3, window = "1m" }

local function network(request)
  return weir.address(request.address, 64)
end

return {
  request = function(request)
    return failures(network(request))
  end,
  response = function(request, response)
    if response.allowed and response.status == "200" then
      failures:refund(network(request))
    end
  end,
}
