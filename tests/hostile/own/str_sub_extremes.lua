-- string.sub and string.byte with positions at the ends of every integer type
local r = {}
for _, i in ipairs({0, -1, 1, 2 ^ 31, -2 ^ 31, 2 ^ 32, 2 ^ 53, -2 ^ 53, 2 ^ 63, -2 ^ 63, 1e308, -1e308, 0 / 0}) do
  for _, j in ipairs({0, -1, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 63, -1 / 0, 0 / 0}) do
    r[#r + 1] = #('abc'):sub(i, j) + select('#', ('abc'):byte(i, j))
  end
end
return r
