-- a full table in which one key leaves and another comes: each step rehashes it all
local t, n = {}, 2 ^ 15
for i = 1, n do t['k' .. i] = i end
local i = n
while true do t['k' .. (i - n + 1)] = nil i = i + 1 t['k' .. i] = 1 end
