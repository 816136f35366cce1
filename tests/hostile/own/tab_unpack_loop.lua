-- unpack of as much as the stack takes, without end
local t = {} for i = 1, 7900 do t[i] = i end
while true do local n = select('#', unpack(t)) end
