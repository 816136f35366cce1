-- table.insert and table.remove at the ends of every integer type
local r = {}
for _, p in ipairs({0, -1, 2 ^ 31 - 1, 2 ^ 31, -2 ^ 31, 2 ^ 53, 1e308, 0 / 0}) do
  r[#r + 1] = tostring(pcall(table.insert, {}, p, 1)) .. tostring(pcall(table.remove, {1, 2, 3}, p))
end
return r
