local s=("a"):rep(65000) while true do s:upper():lower():reverse() end
