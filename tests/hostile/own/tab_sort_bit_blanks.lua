-- table.sort whose order is bit.bor: each comparison skips megabytes of blanks before a digit
local s = (' '):rep(15999990) .. '1'
local t = {} for i = 1, 400 do t[i] = s end
return {pcall(table.sort, t, bit.bor)}
