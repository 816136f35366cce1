-- table.insert far in front of a full table: each step rehashes it all, inside one call
local t = {} for i = 1, 2 ^ 16 - 1 do t['k' .. i] = i end
while true do pcall(table.insert, t, -2000000000, 1) end
