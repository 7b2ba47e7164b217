local t={} while true do for i=1,1e9 do t[1]=tostring(i+0.1) end end
