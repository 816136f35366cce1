-- string.format of numbers that no integer and no buffer holds
local r = {}
for _, v in ipairs({0 / 0, 1 / 0, -1 / 0, 2 ^ 53, 2 ^ 63, -2 ^ 63, 2 ^ 64, 1e308, -1e308, 5e-324}) do
  for _, f in ipairs({'%d', '%i', '%u', '%o', '%x', '%X', '%c', '%e', '%f', '%g', '%99.99f', '%s', '%q'}) do
    r[#r + 1] = #tostring(select(2, pcall(string.format, f, v)))
  end
end
return r
