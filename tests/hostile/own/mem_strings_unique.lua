-- strings in great number, all different: the table of strings grows
local t = {}
for i = 1, 1e9 do t[#t + 1] = i .. 'x' end
