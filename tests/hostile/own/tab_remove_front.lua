-- table.remove from the front of a long table: each moves all
local t = {} for i = 1, 1000000 do t[i] = i end
while true do table.remove(t, 1) end
