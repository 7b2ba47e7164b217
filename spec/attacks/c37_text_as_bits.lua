local s=("0"):rep(65000).."x" while true do pcall(function() return s|0 end) end
