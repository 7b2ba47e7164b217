local n=1.7976931348623157e308 while true do local _=n..n..n..n..n..n..n..n..n..n..n..n..n..n..n..n..n..n..n..n end
