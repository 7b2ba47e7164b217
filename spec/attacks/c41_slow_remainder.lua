local x,y=1.7e308,4.9e-324 while true do local _=x%y _=x%y _=x%y _=x%y _=x%y _=x%y _=x%y _=x%y _=x%y end
