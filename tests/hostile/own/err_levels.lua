-- error with every level
local r = {}
for _, l in ipairs({0, 1, 2, 3, 100, -1, 2 ^ 31 - 1, 2 ^ 31, -2 ^ 31, 0 / 0}) do r[#r + 1] = tostring(select(2, pcall(error, 'x', l))) end
return r
