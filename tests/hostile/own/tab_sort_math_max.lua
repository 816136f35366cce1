-- table.sort whose order is math.max: each comparison reads a number of megabytes, for two units, where no hook sees it
local s = ('9'):rep(16000000)
local t = {} for i = 1, 400 do t[i] = s end
return {pcall(table.sort, t, math.max)}
