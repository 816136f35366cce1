-- One text, packed more often than there is memory for.
local s = string.rep('x', 1000000) local t = {} for i = 1, 5000 do t[i] = s end return #struct.pack(string.rep('s', 5000), unpack(t))
