-- one capture too many, and as many as there may be
local r = {}
for n = 30, 34 do r[#r + 1] = tostring(pcall(string.find, 'x', ('()'):rep(n))) .. tostring(pcall(string.find, 'x', ('('):rep(n) .. ('.'):rep(1) .. (')'):rep(n))) end
return r
