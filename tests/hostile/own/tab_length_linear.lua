-- a length that has to be searched for in a table built for it
local t = {} for i = 1, 1000000 do t[i] = i end
for i = 20, 31 do t[2 ^ i + 1] = 1 t[2 ^ i] = 1 end
t[2 ^ 31 - 1] = 1
while true do local n = #t end
