-- cjson.encode and cmsgpack.pack of one large, emptied table in thousands of places
local t = {} for i = 1, 2 ^ 16 do t['k' .. i] = 1 end
for k in pairs(t) do t[k] = nil end
local list = {} for i = 1, 3000 do list[i] = t end
return {#cjson.encode(list), #cmsgpack.pack(list)}
