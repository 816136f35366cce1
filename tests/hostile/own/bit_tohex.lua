-- bit.tohex with as many digits as no buffer has
local r = {}
for _, n in ipairs({0, 1, 8, 9, -8, -9, 2 ^ 31, -2 ^ 31, 2 ^ 31 - 1, 2 ^ 53, 0 / 0, 1 / 0}) do r[#r + 1] = bit.tohex(65535, n) end
return r
