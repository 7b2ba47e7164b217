local function f(n,...) if n==0 then return ... end return f(n-1,false,...) end return f(1000)
