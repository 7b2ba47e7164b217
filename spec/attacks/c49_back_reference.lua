local s=("a"):rep(60000) while true do s:find("(.+)%1b") end
