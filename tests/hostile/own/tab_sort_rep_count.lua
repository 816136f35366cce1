-- table.sort whose order is string.rep: its count is a number of megabytes
local s = ('9'):rep(16000000)
local t = {} for i = 1, 400 do t[i] = s end
return {pcall(table.sort, t, string.rep)}
