-- bit operations on thousands of arguments, without end
local t = {} for i = 1, 7900 do t[i] = i end
while true do bit.band(unpack(t)) bit.bxor(unpack(t)) end
