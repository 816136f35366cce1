-- table.concat of millions of empty strings, for one instruction
local t = {} for i = 1, 1000000 do t[i] = '' end
while true do table.concat(t) end
