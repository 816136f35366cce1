-- table.sort whose order is next, with a key that is dead, in a table that is large and empty
local t = {} for i = 1, 2 ^ 15 - 2 do t['k' .. i] = 1 end t[t] = 1
for k in pairs(t) do t[k] = nil end
local list = {} for i = 1, 4000 do list[i] = t end
return {pcall(table.sort, list, next)}
