-- a result of one large, emptied table in thousands of places: each time all its empty places are walked
local t = {} for i = 1, 2 ^ 16 do t['k' .. i] = 1 end
for k in pairs(t) do t[k] = nil end
local list, map = {}, {map = t} for i = 1, 5000 do list[i] = map end
return list
