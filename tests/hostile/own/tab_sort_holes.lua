-- table.sort of a table whose length is a matter of opinion
local t = {} for i = 1, 1000, 3 do t[i] = i end
for i = 1, 30 do t[2 ^ i] = i end
return {pcall(table.sort, t), pcall(table.sort, t, function(a, b) return (a or 0) < (b or 0) end)}
