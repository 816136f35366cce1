-- names looked up in two hundred variables
return loadstring('local ' .. ('a,'):rep(198) .. 'a ' .. ('x=x '):rep(250000))
