return setmetatable(string,{__index=function() return error end})
