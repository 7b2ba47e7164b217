while true do local ok,e=pcall(function() while true do end end) tostring(e) end
