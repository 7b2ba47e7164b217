local t t=setmetatable({},{__newindex=function(s,k,v) t[k]=v end}) while true do pcall(function() t.x=1 end) end
