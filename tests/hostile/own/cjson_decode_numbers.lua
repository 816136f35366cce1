-- numbers of cjson.decode that are nearly none
local r = {}
for _, s in ipairs({'1e999999999', '-1e999999999', ('9'):rep(100000), '0x10', '-', '+1', '1.', '.1', '1e', 'nan', 'inf', '-inf', 'Infinity', '00', '1' .. ('0'):rep(1000000) .. 'e-1000000', '1\0'}) do r[#r + 1] = tostring(pcall(cjson.decode, s)) end
return r
