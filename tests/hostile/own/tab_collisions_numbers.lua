-- numbers as keys that fall into one bucket
local t = {}
for i = 1, 1000000 do t[i * 2 ^ 32 + 0.5] = 1 end
return 1
