-- names looked up through a hundred functions with two hundred variables each
local locals = 'local ' .. ('a,'):rep(198) .. 'a '
return loadstring((locals .. 'function f() '):rep(90) .. ('x=x '):rep(200000) .. ('end '):rep(90))
