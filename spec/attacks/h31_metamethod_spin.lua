local t=setmetatable({},{__eq=function() while true do end end}) local u=setmetatable({},{__eq=function() while true do end end}) return t==u
