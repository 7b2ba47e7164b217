--- stores: every kind of store that the cases and the contract run on, each opened empty.

local weir = require "weir"

return {
  {
    name = "memory store",
    open = function()
      return weir.memory { size = "8MiB" }
    end,
  },
}
