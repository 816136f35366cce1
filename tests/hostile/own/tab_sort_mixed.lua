-- table.sort of what has no order
local r = {}
for _, t in ipairs({{1, 'a'}, {{}, {}}, {true, false}, {(1 == 1), 1}, {0 / 0, 1, 0 / 0, 2, 0 / 0}, {'a', 'b', 3}}) do r[#r + 1] = tostring(pcall(table.sort, t)) end
return r
