-- out of memory inside the parser
local s = {} for i = 1, 30000 do s[i] = '"' .. ('k'):rep(20) .. i .. '"' end
s = 'return {' .. table.concat(s, ',') .. '}'
local kept = {}
while true do local f = loadstring(s) kept[#kept + 1] = f and f() end
