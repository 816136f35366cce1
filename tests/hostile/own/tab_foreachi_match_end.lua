-- table.foreachi calls string.match with one pattern of megabytes, whose end is looked for each time
local s = ('x'):rep(16000000)
local t = {} for i = 1, 2000 do t[i] = s end
return table.foreachi(t, string.match)
