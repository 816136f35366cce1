-- unpack with ranges at the ends of every integer type
local r = {}
for _, i in ipairs({0, 1, -1, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 31, 2 ^ 32, 2 ^ 53, -2 ^ 53, 0 / 0}) do
  for _, j in ipairs({0, -1, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 53, 1 / 0}) do
    r[#r + 1] = tostring(pcall(function() return select('#', unpack({1, 2}, i, j)) end))
  end
end
return table.concat(r, ',')
