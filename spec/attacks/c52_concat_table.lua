local t={} for i=1,1000 do t[i]=("x"):rep(60) end while true do table.concat(t,",") end
