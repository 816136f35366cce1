-- select with every kind of position
local r = {}
for _, n in ipairs({-1, -2, -3, -4, 0, 1, 4, 2 ^ 31, -2 ^ 31, 2 ^ 53, 0 / 0, '#', '##', '2', 'x', {}}) do r[#r + 1] = tostring(pcall(select, n, 1, 2, 3)) end
return r
