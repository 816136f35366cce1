-- what is returned is one table of a million elements
local t = {} for i = 1, 1000000 do t[i] = i end
return t
