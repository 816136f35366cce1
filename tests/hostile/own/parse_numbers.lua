-- numbers that are nearly none
local r = {}
for _, c in ipairs({'1e', '1e+', '0x', '0xg', '1..2', '1.2.3', '1e5e5', '..1', '0x1p4', '1e99999', ('9'):rep(100000), '0x' .. ('f'):rep(100000), '1__2', '3and'}) do r[#r + 1] = tostring(loadstring('return ' .. c) ~= nil) end
return r
