-- a hundred thousand tables in one
local t = {} for i = 1, 200000 do t[i] = {i, {}} end
return t
