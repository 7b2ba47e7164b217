local s=("0"):rep(65535) while true do local _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 _=s|0 end
