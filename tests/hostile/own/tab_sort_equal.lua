-- table.sort of a million equal elements
local t = {} for i = 1, 1000000 do t[i] = 7 end
while true do table.sort(t) end
