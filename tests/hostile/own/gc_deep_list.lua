-- a list of a million tables, each in the next, for the collector to follow
local t = {}
for i = 1, 400000 do t = {t} end
collectgarbage()
local n = 0 while t do t = t[1] n = n + 1 end
return n
