local p=("\0"):rep(65000) local a,b=p.."a",p.."b" while true do local _=a<b _=a<b _=a<b _=a<b _=a<b _=a<b _=a<b _=a<b _=a<b _=a<b _=a<b end
