local first={} local t=first for i=1,1900 do local n={} setmetatable(t,{__index=n}) t=n end while true do local _=first.x end
