-- table.foreachi calls string.find with one needle of megabytes, in which specials are looked for each time
local s = ('x'):rep(16000000)
local t = {} for i = 1, 400 do t[i] = s end
return table.foreachi(t, string.find)
