local function f() return pcall(f) end while true do f() end
