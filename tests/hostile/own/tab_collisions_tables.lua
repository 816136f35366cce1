-- tables as keys, kept and dropped
local t = {}
for i = 1, 1e9 do t[{}] = i if i % 1000 == 0 then t = {} end end
