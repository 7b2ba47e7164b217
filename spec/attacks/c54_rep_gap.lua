while true do (""):rep(65000,"") end
