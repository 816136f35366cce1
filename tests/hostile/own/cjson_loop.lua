-- cjson there and back without end
local t = {} for i = 1, 1000 do t[i] = {name = 'n' .. i, value = i / 3} end
while true do t = cjson.decode(cjson.encode(t)) end
