local keep={} for i=1,9000 do keep[i]={i} end local s=("x"):rep(60000) while true do local _=s.."y" _=s.."z" _=s.."a" _=s.."b" end
