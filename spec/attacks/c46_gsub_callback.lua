local s=("a"):rep(60000) while true do s:gsub(".",function() s:gsub(".","%0%0") end) end
