-- a full collection of all the memory there is, without end
local t = {} for i = 1, 300000 do t[i] = {i} end
while true do collectgarbage('collect') end
