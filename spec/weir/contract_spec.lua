--- The contract of stores, on each kind there is.

local contract = require "spec.weir.store_contract"
local stores = require "spec.weir.stores"

for _, kind in ipairs(stores) do
  contract("a " .. kind.name, kind.open)
end
