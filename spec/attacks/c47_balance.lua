local s=("("):rep(60000) while true do s:find("%b()") end
