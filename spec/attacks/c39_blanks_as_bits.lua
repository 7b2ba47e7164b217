local s=(" "):rep(65000).."1" while true do local _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 end
