-- math.random and its seed with every kind of number
local r = {}
for _, n in ipairs({0, -1, 1, 2 ^ 31 - 1, 2 ^ 31, -2 ^ 31, 2 ^ 32, 2 ^ 53, 1e308, 0 / 0, 1 / 0}) do
  r[#r + 1] = type(select(2, pcall(math.random, n))) .. type(select(2, pcall(math.random, -n, n))) .. tostring(pcall(math.randomseed, n))
end
r[#r + 1] = tostring(pcall(math.random, 1, 2, 3))
return r
