-- cjson.decode of brackets nested without end, with the limit raised
local r = {}
for _, d in ipairs({1000, 1001, 100000, 2 ^ 31 - 1}) do pcall(cjson.decode_max_depth, d) r[#r + 1] = tostring(pcall(cjson.decode, ('['):rep(500000))) r[#r + 1] = tostring(pcall(cjson.decode, ('{"a":'):rep(100000) .. '1' .. ('}'):rep(100000))) end
return r
