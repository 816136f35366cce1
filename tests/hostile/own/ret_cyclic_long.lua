-- a cycle of a thousand tables is returned
local first = {} local t = first
for i = 1, 1000 do t[1] = {} t = t[1] end
t[1] = first
return first
