-- cjson.encode of tables that double
local t = {1} for i = 1, 60 do t = {t, t} end
return #tostring(select(2, pcall(cjson.encode, t)))
