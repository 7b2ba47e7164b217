--- five_policies: what the policies in lua/policies decide of the same requests at the same times, as text.
--
-- five_policies(open, store, root)    one line a decision; `open` opens a policy from its options, `root` is this
--                                     repository. In any Lua.

local show = require "openresty.support.show"

local START_US = 1767225600000000

-- Each field of the nth request of a policy.
local fields = {
  user = { "bob", "eve", "Nick@Example.com ", "bob" },
  address = { "192.0.2.1", "2001:db8::1", "2001:db8::2", "not an address", "::ffff:192.0.2.1" },
  key = { "k1", "k2" },
  plan = { "free", "team", "gold", "enterprise" },
  path = { "/search?q=1", "/export", "/", "/other" },
  team = { "a", "b" },
  prompt_bytes = { 4000, 100000, 1 },
  max_tokens = { 1000, 60000 },
  event = { "opera" },
  buyer = { "ann", "joe" },
  tickets = { "1", "2", "none", 3 },
}

local answers = {
  success = { "yes", "no" },
  tokens = { 10, "50000", 1e6 },
}

local read = {
  chat = { "user", "address" },
  login = { "user", "address" },
  api_plans = { "key", "address", "plan", "path" },
  llm_tokens = { "team", "prompt_bytes", "max_tokens" },
  ticket_sale = { "event", "buyer", "tickets" },
}

local function nth(values, n)
  return values[(n * 7 + math.floor(n / 5)) % #values + 1]
end

local function request_of(names, n)
  local request = { time = START_US + n * 170000 }
  for i, name in ipairs(names) do
    request[name] = nth(fields[name], n * i)
  end
  return request
end

local function response_of(n)
  return { success = nth(answers.success, n), tokens = nth(answers.tokens, n) }
end

-- Where an answer came from is not the same everywhere, and only nginx gives the limits with it.
local function comparable(outcome)
  if outcome then
    outcome.source = nil
    outcome.limits = nil
    for _, row in ipairs(outcome.rows) do
      row.source = nil
    end
  end
  return outcome
end

return function(open, store, root)
  local lines = {}
  for _, name in ipairs { "api_plans", "chat", "llm_tokens", "login", "ticket_sale" } do
    local policy = assert(open { path = root .. "/lua/policies/" .. name .. ".lua" })
    for n = 1, 60 do
      local request = request_of(read[name], n)
      local outcome, message, code = policy:decide(store, request)
      lines[#lines + 1] = name .. " " .. show { comparable(outcome), message or false, code or false }
      if outcome and policy:has_response() then
        local done, why = policy:respond(store, request, response_of(n), outcome.allowed)
        lines[#lines + 1] = name .. " responds " .. show { done or false, why or false }
      end
    end
    policy:close()
  end
  return table.concat(lines, "\n")
end
