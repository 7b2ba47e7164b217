while true do pcall(error,setmetatable({},{__index=function() while true do end end})) end
