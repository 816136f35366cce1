-- out of memory inside the order of a sort, then the table is used
local t = {} for i = 1, 100 do t[i] = i * 7 % 101 end
pcall(table.sort, t, function(a, b) local g = {} while true do g[#g + 1] = ('x'):rep(10000) .. #g end end)
table.sort(t)
return t[1] + t[100]
