--- api_plans: each plan has its limit, and each path its cost.
--
-- Reads request.key (of the caller; else request.address), request.plan and request.path. A caller without a plan has
-- the free one; a plan that nobody knows is refused.

local weir = require "weir"

local plans = {
  free = weir.token_bucket { name = "free", rate = "60/m", burst = 10 },
  team = weir.token_bucket { name = "team", rate = "600/m", burst = 100 },
  enterprise = weir.token_bucket { name = "enterprise", rate = "100/s", burst = 1000 },
}
local costs = { search = 5, export = 10 }

return function(request)
  local plan = plans[request.plan or "free"]
  if not plan then
    return weir.deny("no such plan")
  end
  return plan(request.key or request.address, costs[(request.path or ""):match("^/(%w+)")] or 1)
end
