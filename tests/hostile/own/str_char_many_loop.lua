-- string.char takes thousands of arguments for one instruction
local t = {} for i = 1, 7900 do t[i] = 65 end
while true do local s = string.char(unpack(t)) end
