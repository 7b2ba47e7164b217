local f=("%.99f"):rep(200) while true do pcall(string.format,f) end
