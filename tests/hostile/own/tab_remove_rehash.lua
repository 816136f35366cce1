-- table.remove and table.insert in the middle of a table that is all hash and full
local t = {} for i = 2 ^ 15 - 1, 1, -1 do t[i] = i end for i = 1, 2 ^ 15 do t[-i] = i end
while true do pcall(table.insert, t, 1, 1) pcall(table.remove, t, 1) end
