-- table.concat whose separator is long
local t = {} for i = 1, 100000 do t[i] = 'a' end
return #table.concat(t, ('s'):rep(100000))
