-- A table with each level shared twice: its text doubles at each.
local t = {} for i = 1, 200 do t = {t, t} end return cjson.encode(t)
