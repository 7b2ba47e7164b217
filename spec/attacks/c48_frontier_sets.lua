local s=("a"):rep(60000) local p="%f["..("b"):rep(100).."]" while true do s:find(p) end
