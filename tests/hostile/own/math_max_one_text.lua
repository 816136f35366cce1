-- math.max, string.char and bit.bor of one number of megabytes, thousands of times in one instruction
local s = ('0'):rep(15999999) .. '7'
local t = {} for i = 1, 7000 do t[i] = s end
while true do pcall(math.max, unpack(t)) pcall(math.min, unpack(t)) pcall(string.char, unpack(t)) pcall(bit.bor, unpack(t)) end
