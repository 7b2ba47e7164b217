string.rep=nil _G.x=1 x=1
