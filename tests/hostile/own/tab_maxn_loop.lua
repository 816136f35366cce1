-- table.maxn looks at every entry of a large table
local t = {} for i = 1, 300000 do t['k' .. i % 100000] = i t[i] = 1 end
while true do table.maxn(t) end
