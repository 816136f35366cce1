-- table.sort compares long strings inside C
local t = {} local base = ('y'):rep(1000000)
for i = 1, 12 do t[i] = base .. i end
while true do table.sort(t, function(a, b) return a > b end) table.sort(t) end
