-- As many arguments as a call takes, over and over: work inside one C call.
local t = {} for i = 1, 7900 do t[i] = i end while true do bit.bxor(unpack(t)) end
