local p=("a"):rep(32000) local a,b=p..p.."a",p..p.."a" while true do local _=a==b _=a==b _=a==b _=a==b _=a==b _=a==b _=a==b _=a==b _=a==b end
