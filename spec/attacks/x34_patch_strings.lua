getmetatable("").__index.rep=function() return "evil" end
