-- table.insert at the front of a long table: each moves all
local t = {} for i = 1, 500000 do t[i] = i end
while true do table.insert(t, 1, 0) end
