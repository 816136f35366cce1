-- string.format with as many arguments as the stack holds
local t = {} for i = 1, 7990 do t[i] = i end
return #string.format(('%d'):rep(7990), unpack(t))
