--- llm_tokens: a budget of model tokens, estimated before the call and settled after it.
--
-- Reads request.team, request.prompt_bytes and request.max_tokens; afterwards response.tokens, what was really used.

local weir = require "weir"

local tokens = weir.token_bucket { name = "tokens", rate = "100000/m", burst = 200000 }

-- About four bytes are one token; the answer may be as long as was asked for.
local function estimate(request)
  return math.ceil(request.prompt_bytes / 4) + request.max_tokens
end

return {
  request = function(request)
    return tokens(request.team, estimate(request))
  end,
  response = function(request, response)
    if response.allowed then
      local owed = tonumber(response.tokens or 0) - estimate(request)
      tokens[owed < 0 and "refund" or "charge"](tokens, request.team, math.abs(owed))
    end
  end,
}
