local t t=setmetatable({},{__concat=function(a,b) return t..1 end}) while true do pcall(function() return t..t end) end
