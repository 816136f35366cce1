-- table.concat of numbers that take long to print
local t = {} for i = 1, 400000 do t[i] = 4.9e-324 * i end
while true do pcall(table.concat, t) end
