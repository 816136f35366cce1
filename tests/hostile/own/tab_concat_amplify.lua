-- table.concat of one long string, a thousand times over
local s, t = ('x'):rep(1000000), {}
for i = 1, 5000 do t[i] = s end
return #table.concat(t)
