-- one string of megabytes, a thousand times in what is returned
local s, t = ('x'):rep(10000000), {}
for i = 1, 1000 do t[i] = s end
return t
