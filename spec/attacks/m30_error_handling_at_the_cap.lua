local t={} for i=1,1e9 do local ok=pcall(function() t[#t+1]=("x"):rep(1000)..i end) if not ok then break end end local function f() return pcall(f) end f() error("end")
