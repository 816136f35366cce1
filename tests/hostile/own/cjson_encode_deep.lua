-- cjson.encode of what is nested deeper than allowed, and of itself
local t = {} for i = 1, 5000 do t = {t} end
local c = {} c[1] = c local d = {} d.d = d
return {pcall(cjson.encode, t), pcall(cjson.encode, c), pcall(cjson.encode, d)}
