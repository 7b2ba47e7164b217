local s=("x"):rep(32000) while true do local _=s..s end
