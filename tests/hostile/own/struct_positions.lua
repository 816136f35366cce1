-- positions of struct.unpack outside the text
local r = {}
for _, p in ipairs({0, -1, 1, 4, 5, 6, 2147483647, 2147483648, -2147483648, 2 ^ 53, 0 / 0, 1 / 0}) do for _, f in ipairs({'I4', 's', 'c0', 'c4', 'd', 'x'}) do r[#r + 1] = tostring(pcall(struct.unpack, f, 'abcd', p)) end end
return r
