local s=("a"):rep(65000) local p=("a"):rep(120).."b" while true do s:find(p,1,true) end
