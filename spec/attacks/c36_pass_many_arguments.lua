local function g() end local function f(n,...) if n==0 then while true do g(...) g(...) g(...) end end return f(n-1,n,...) end f(20000)
